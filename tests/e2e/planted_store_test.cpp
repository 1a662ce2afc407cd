// A store from somebody else: `winnow resume` and `winnow batch` send no key to a host that it
// names and run no command that stands in it, unless the user says so.
#include "base/files.h"
#include "tests/e2e/finished_run.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// A port of this machine that counts who comes.
class Listener {
public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address_), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }
  ~Listener() { close(socket_); }
  Listener(const Listener&) = delete; // owns the socket
  Listener& operator=(const Listener&) = delete;

  int port() const { return ntohs(address_.sin_port); }
  bool anybody_came() const {
    const int peer = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer >= 0) {
      close(peer);
    }
    return peer >= 0;
  }

private:
  int socket_;
  sockaddr_in address_{};
};

class PlantedStore : public testing::Test {
protected:
  PlantedStore() {
    std::filesystem::copy_file(finished_run().store, store_);
    plant("$.run.proposals", "30");
    plant("$.endpoint.kind", "'chat'");
    plant("$.endpoint.file", "''");
    plant("$.endpoint.base_url", fmt::format("'http://127.0.0.1:{}/v1'", listener_.port()));
    plant("$.endpoint.model", "'m'");
    plant("$.endpoint.api_key_env", "'OPENAI_API_KEY'");
    plant("$.endpoint.max_attempts", "1");
    plant("$.endpoint.outage_seconds", "1");
    plant("$.endpoint.timeout_seconds", "1"); // nobody answers at that port
    plant("$.evaluation.precheck", fmt::format("'touch {}; echo {{}}'", planted().string()));
    SQLite::Database(store_, SQLite::OPEN_READWRITE).exec("UPDATE runs SET status = 'interrupted'");
  }

  /// `value` is an SQL expression.
  void plant(const std::string& path, const std::string& value) {
    SQLite::Database(store_, SQLite::OPEN_READWRITE)
        .exec(fmt::format("UPDATE runs SET config = json_set(config, '{}', {})", path, value));
  }
  std::filesystem::path planted() const { return folder_.path() / "planted"; }

  ProgramResult winnow(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", store_});
    ProgramOptions options;
    options.environment["OPENAI_API_KEY"] = "sk-victim-1234567890";
    return run_winnow(arguments, options);
  }
  void expect_nothing_happened() const {
    EXPECT_FALSE(std::filesystem::exists(planted()));
    EXPECT_FALSE(listener_.anybody_came());
  }

  TemporaryDirectory folder_{"planted"};
  std::string store_ = folder_.path() / "evil.db";
  Listener listener_;
};

TEST_F(PlantedStore, NoRequestLeavesAndNoCommandRuns) {
  std::filesystem::create_symlink(planted(), store_ + ".lock-1"); // a lock file would be made there
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"resume", "resume"},
        std::vector<std::string>{"batch", "export", "--run", "resume", "-o", folder_.path() / "r"},
        std::vector<std::string>{"batch", "import", "--run", "resume", "/dev/null"}}) {
    const ProgramResult refused = winnow(command);
    SCOPED_TRACE(refused.err);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("you have not stored run 'resume'"));
    EXPECT_THAT(refused.err, HasSubstr("endpoint.base_url = \"http://127.0.0.1:"));
    EXPECT_THAT(refused.err, HasSubstr("endpoint.api_key_env = \"OPENAI_API_KEY\""));
    EXPECT_THAT(refused.err, HasSubstr("evaluation.precheck = \"touch "));
    EXPECT_THAT(refused.err, HasSubstr("--trust-store"));
    expect_nothing_happened();
  }
}

TEST_F(PlantedStore, TheOwnModelOfTheCommandLineDoesNotBringTheCommand) {
  plant("$.endpoint.api_key_cmd", fmt::format("'touch {}; echo k'", planted().string()));
  const ProgramResult refused = winnow({"resume", "resume", "--model", "openai/m"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("endpoint.api_key_cmd"));
  EXPECT_THAT(refused.err, Not(HasSubstr("endpoint.base_url")));
  expect_nothing_happened();
}

TEST_F(PlantedStore, GoesOnWithAConfigOfTheUsersOwn) {
  const ProgramResult resumed =
      winnow({"resume", "resume", "--config", "tests/e2e/resume/resume.toml"});
  EXPECT_THAT(resumed.exit_code, AnyOf(0, 5)) << resumed.err; // the recording is short
  EXPECT_THAT(resumed.err, HasSubstr("--config: values that the run did not have:"));
  EXPECT_THAT(resumed.err, HasSubstr("\n  endpoint.base_url = \"\"\n"));
  EXPECT_THAT(resumed.err, HasSubstr("which a resumed run keeps:\n  run.proposals = 30\n"));
  expect_nothing_happened();
}

TEST_F(PlantedStore, ObeysTheStoreIfTheUserSaysSo) {
  const ProgramResult resumed = winnow({"resume", "resume", "--trust-store"});
  EXPECT_NE(resumed.exit_code, 2) << resumed.err;
  EXPECT_TRUE(listener_.anybody_came()) << resumed.err;
}

TEST_F(PlantedStore, AnotherMachinesStoreIsRefusedAsItIs) {
  const std::string moved = folder_.path() / "moved.db";
  std::filesystem::copy_file(finished_run().store, moved);
  ProgramOptions options;
  options.environment["XDG_STATE_HOME"] = folder_.path() / "state of another machine";
  const ProgramResult refused = run_winnow({"resume", "resume", "--store", moved}, options);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("endpoint.file = "));
  EXPECT_EQ(run_winnow({"resume", "resume", "--store", moved}).exit_code, 0) << "here it is known";
}

TEST_F(PlantedStore, ATaskThatItNamesIsOneOfTheCatalogue) {
  const std::string task = project_folder() / "tasks/catalogue/blas/axpy";
  SQLite::Database(store_, SQLite::OPEN_READWRITE)
      .exec(fmt::format("UPDATE tasks SET name = '{}' WHERE name = 'reduce_sum'", task));
  const ProgramResult refused = winnow({"reverify", "--device", "cpu"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no task '" + task + "'"));
}

TEST_F(PlantedStore, DamagedJsonIsNamedByTableRowAndColumn) {
  SQLite::Database database(store_, SQLite::OPEN_READWRITE);
  database.exec("PRAGMA ignore_check_constraints = ON");
  database.exec("UPDATE runs SET config = substr(config, 1, 100)");
  const ProgramResult refused = winnow({"resume", "resume"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("column 'config' of row 1 of table 'runs' is not JSON"));
  EXPECT_THAT(refused.err, HasSubstr("remedy: restore a copy"));
}

/// Whoever has the store open has made the files that SQLite writes beside it, so that only the
/// export meets the limit.
class FullFile : public testing::TestWithParam<bool> {};

TEST_P(FullFile, IsAnErrorWithAMessage) {
  const TemporaryDirectory folder("full-file");
  std::optional<SQLite::Database> reader;
  if (GetParam()) {
    reader.emplace(finished_run().store, SQLite::OPEN_READWRITE);
    reader->execAndGet("SELECT count(*) FROM runs");
  }
  process::Command command = winnow_command({"export", "json", "--store", finished_run().store,
                                             "--output", folder.path() / "export.json"});
  std::vector<std::string> argv{"/bin/sh", "-c", "ulimit -f 8; exec \"$0\" \"$@\""};
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  command.argv = argv;
  const process::ChildResult result = process::run_child(command, "");
  EXPECT_EQ(result.end, process::ChildResult::End::Exited) << describe(result);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AnyOf(HasSubstr("File too large"), HasSubstr("no space left")));
  EXPECT_THAT(result.err, HasSubstr("remedy: free some space"));
}
INSTANTIATE_TEST_SUITE_P(Readers, FullFile, testing::Bool());

TEST(Exports, AreReadableForTheirOwnerOnly) {
  const TemporaryDirectory folder("export-modes");
  const std::filesystem::path file = folder.path() / "export.json";
  ASSERT_EQ(
      run_winnow({"export", "json", "--store", finished_run().store, "--output", file}).exit_code,
      0);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(finished_run().store).permissions(),
            std::filesystem::perms(0600));
}

} // namespace
} // namespace winnow::test
