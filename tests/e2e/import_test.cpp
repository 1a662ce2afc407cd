// Tests `winnow tasks import kernelbench` of the real program. A stand-in for Python with PyTorch
// describes the modules, and misbehaves where a module says so.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ImportTest : public testing::Test {
protected:
  ImportTest() {
    fs::create_directories(level());
    fs::copy_file(project_folder() / "evaluators/torch/testing/python_fake.py", python());
    for (const auto& [name, text] :
         {std::pair("1_good.py", "good"), std::pair("2_dies.py", "exit"),
          std::pair("3_sleeps.py", "sleep"), std::pair("4_raises.py", "raise"),
          std::pair("5_good.py", "good")}) {
      put(level() / name, text);
    }
  }
  static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  fs::path level() const { return folder_.path() / "checkout" / "level1"; }
  fs::path tasks() const { return folder_.path() / "tasks"; }
  fs::path python() const { return folder_.path() / "python"; }

  ProgramResult import(std::vector<std::string> more = {}) const {
    ProgramOptions options;
    options.environment = {{"WINNOW_PYTHON", python().string()}};
    std::vector<std::string> arguments = {"tasks",       "import",
                                          "kernelbench", level().parent_path().string(),
                                          "--to",        tasks().string(),
                                          "--device",    "cpu",
                                          "--jobs",      "3",
                                          "--timeout",   "1s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_winnow(arguments, options);
  }

  TemporaryDirectory folder_{"import-test"};
};

TEST_F(ImportTest, RefusesOnlyTheModulesThatFail) {
  const ProgramResult first = import();
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("refused: level1/2_dies: no answer: exited with 3"),
                    HasSubstr("refused: level1/3_sleeps: no answer within 1.0 s"),
                    HasSubstr("refused: level1/4_raises: ValueError: the module says no"),
                    HasSubstr("level1             2       2        0        3      2          0  0 "
                              "/ 2\n")));
  EXPECT_THAT(first.err, HasSubstr("5 of 5: "));
  for (const fs::path& file : {level() / "2_dies.py", level() / "3_sleeps.py"}) {
    put(file, "good");
  }
  const nlohmann::json second = json_output(import({"--json"}));
  EXPECT_EQ(second["groups"][0]["tasks"], 4);
  EXPECT_EQ(second["problems"][0]["was_there"], true);
  EXPECT_EQ(second["problems"][1]["was_there"], false);
}

TEST_F(ImportTest, SaysThatPyTorchIsMissing) {
  put(folder_.path() / "TORCH_IS_MISSING", "");
  const ProgramResult result = import();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("cannot import torch"), HasSubstr("install PyTorch")));
  EXPECT_FALSE(fs::exists(tasks()));
}

TEST_F(ImportTest, AnInterruptedImportKeepsWhatIsDone) {
  process::Command command =
      winnow_command({"tasks", "import", "kernelbench", level().parent_path().string(), "--to",
                      tasks().string(), "--device", "cpu", "--jobs", "1"});
  command.environment["WINNOW_PYTHON"] = python().string();
  command.limits.wall = std::chrono::minutes(1);
  process::ChildProcess child(command);
  while (!is_file(tasks() / "level1" / "5_good" / "import.json") && child.running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300)); // the fourth fails, the third sleeps
  kill(child.pid(), SIGINT);
  const process::ChildResult result = child.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("level1             1"), Not(HasSubstr("3_sleeps"))));
  EXPECT_EQ(std::distance(fs::directory_iterator(tasks() / "level1"), {}), 1);
}

} // namespace
} // namespace winnow::test
