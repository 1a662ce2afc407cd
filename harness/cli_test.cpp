#include "base/files.h"
#include "harness/cli.h"
#include "harness/exit_codes.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using testing::HasSubstr;

struct Output {
  int code = -1;
  std::string out;
  std::string err;
};

Output run(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Output result;
  result.code = run_cli(arguments);
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

TEST(Cli, HelpNamesTheCommandsAndExitCodes) {
  const Output help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"doctor", "tasks", "eval", "run", "resume", "leaderboard", "export",
                           "Exit codes", "130 interrupted"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  EXPECT_EQ(help.err, "");
}

TEST(Cli, EveryCommandHasHelpWithExitCodes) {
  for (const char* command :
       {"doctor", "tasks", "eval", "run", "resume", "leaderboard", "export"}) {
    const Output help = run({command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Exit codes")) << command;
  }
}

TEST(Cli, VersionIsAResult) {
  const Output version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::StartsWith("winnow "));
}

struct Misuse {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(Cli, MisuseIsExplainedWithTheNearestMatch) {
  const Misuse misuses[] = {
      {{"docter"}, "unknown command 'docter'; did you mean 'doctor'?"},
      {{"tasks", "lst"}, "unknown command 'lst'; did you mean 'list'?"},
      {{"eval", "--devise", "cpu", "axpy", "f.cu"}, "did you mean '--device'?"},
      {{"eval", "--devise=cpu", "axpy", "f.cu"}, "unknown option '--devise'"},
      {{"run", "--log-levle", "info"}, "did you mean '--log-level'?"},
      {{"eval", "axpy"}, "FILE is required"},
      {{"leaderboard", "--format", "xml"}, "--format"},
      {{"leaderboard", "--format", "csv", "--json"}, "excludes"},
      {{}, "subcommand is required"},
      {{"export"}, "FORMAT is required"},
      {{"eval", "--seed", "x", "axpy", "f.cu"}, "--seed"},
      {{"eval", "--seed", "0", "axpy", "f.cu"}, "--seed: Value 0 not in range 1 to"},
      {{"--log-level", "loud", "doctor"}, "--log-level"},
  };
  for (const Misuse& misuse : misuses) {
    const Output output = run(misuse.arguments);
    EXPECT_EQ(output.code, to_int(ExitCode::Usage)) << misuse.message;
    EXPECT_THAT(output.err, HasSubstr(misuse.message));
    EXPECT_THAT(output.err, HasSubstr("--help"));
    EXPECT_EQ(output.out, "");
  }
}

TEST(Cli, AConfigMistakeIsAUsageError) {
  const TemporaryDirectory directory("cli-test");
  const auto file = directory.path() / "bad.toml";
  write_file_atomic(file, "[run]\nproposal = 1\n");
  const Output output = run({"run", file.string()});
  EXPECT_EQ(output.code, to_int(ExitCode::Usage));
  EXPECT_THAT(output.err, HasSubstr("bad.toml:2:1: unknown key 'proposal'"));
}

TEST(Cli, AMissingStoreIsAUsageError) {
  const Output output = run({"leaderboard", "--store", "/nonexistent/x.db"});
  EXPECT_EQ(output.code, to_int(ExitCode::Usage));
  EXPECT_THAT(output.err, HasSubstr("/nonexistent/x.db: no such store"));
}

TEST(Cli, AStoreThatIsNoDatabaseIsAFailure) {
  const TemporaryDirectory directory("cli-test");
  const auto file = directory.path() / "text.db";
  write_file_atomic(file, std::string(8192, 'x'));
  const Output output = run({"leaderboard", "--store", file.string()});
  EXPECT_EQ(output.code, to_int(ExitCode::Failure));
  EXPECT_THAT(output.err, HasSubstr("text.db"));
}

TEST(Worker, OnlyHiddenSubcommandsAreWorkers) {
  std::string program = "winnow";
  std::string hidden = "_compile";
  std::string plain = "eval";
  char* with_hidden[] = {program.data(), hidden.data(), nullptr};
  char* with_plain[] = {program.data(), plain.data(), nullptr};
  EXPECT_TRUE(is_worker(2, with_hidden));
  EXPECT_FALSE(is_worker(2, with_plain));
  EXPECT_FALSE(is_worker(1, with_plain));
}

} // namespace
} // namespace winnow::harness
