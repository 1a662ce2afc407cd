// Winnow as `cmake --install` leaves it, started from a folder outside of the source tree.
#include "base/files.h"
#include "process/child_process.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Installed : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directory(home());
    const process::ChildResult install =
        run({CMAKE_PROGRAM, "--install", WINNOW_BUILD_FOLDER, "--prefix", "/usr"},
            {{"DESTDIR", root_.path().string()}});
    ASSERT_EQ(install.exit_code, 0) << install.err;
  }

  fs::path home() const { return root_.path() / "home"; }
  fs::path usr() const { return root_.path() / "usr"; }

  process::ChildResult run(std::vector<std::string> arguments,
                           std::map<std::string, std::string> environment = {}) const {
    const char* path = std::getenv("PATH");
    environment.emplace("PATH", path != nullptr ? path : "/usr/bin:/bin");
    environment.emplace("HOME", home().string());
    process::Command command;
    command.argv = std::move(arguments);
    command.environment = std::move(environment);
    command.working_directory = home();
    command.limits.wall = std::chrono::minutes(3);
    command.limits.output_bytes = 8U << 20U;
    return process::run_child(command, "");
  }
  process::ChildResult winnow(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (usr() / "bin/winnow").string());
    return run(std::move(arguments));
  }

private:
  TemporaryDirectory root_{"install-test"};
};

TEST_F(Installed, FindsItsTasksAndItsConfigs) {
  const fs::path catalogue = usr() / "share/winnow/tasks/catalogue";
  const process::ChildResult list = winnow({"tasks", "list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("row_softmax"));
  EXPECT_THAT(winnow({"doctor"}).out, HasSubstr("tasks in " + catalogue.string()));
  EXPECT_TRUE(is_file(usr() / "share/winnow/python/winnow_client.py"));
  EXPECT_TRUE(is_file(usr() / "share/winnow/python/winnow_forms/slime.py"));
  EXPECT_TRUE(is_file(usr() / "share/winnow/python/examples/own_loop.py"));

  const process::ChildResult eval = winnow(
      {"eval", "axpy", catalogue / "blas/axpy/baseline.cu", "--device", "cpu", "--no-timing"});
  EXPECT_EQ(eval.exit_code, 0) << eval.err;
  EXPECT_THAT(eval.out, HasSubstr("verdict: correct"));

  const process::ChildResult search =
      winnow({"run", "quickstart", "--device", "cpu", "--task", "axpy", "--set", "run.proposals=1",
              "--set", "evaluation.time_budget=20ms"});
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_TRUE(is_file(home() / ".local/share/winnow/quickstart.db"));
  const process::ChildResult board = winnow({"leaderboard"});
  EXPECT_EQ(board.exit_code, 0) << board.err;
  EXPECT_THAT(board.out, HasSubstr("axpy on cpu"));
}

TEST_F(Installed, HasAManualAndACompletion) {
  EXPECT_TRUE(is_file(usr() / "share/man/man1/winnow.1.gz"));
  EXPECT_TRUE(is_file(usr() / "share/doc/winnow/copyright"));
  const process::ChildResult words =
      run({"/bin/bash", "-c",
           "source \"$0\"; COMP_WORDS=(winnow tasks s); COMP_CWORD=2; _winnow; echo "
           "\"${COMPREPLY[@]}\"",
           usr() / "share/bash-completion/completions/winnow"});
  EXPECT_EQ(words.out, "show selftest\n") << words.err;
}

} // namespace
} // namespace winnow::test
