// Tests mistakes of users on the command line: messages and exit codes.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::test {
namespace {

using testing::HasSubstr;

struct BadCommand {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  const char* says;
};

class BadCommandLine : public testing::TestWithParam<BadCommand> {};

TEST_P(BadCommandLine, IsExplained) {
  const ProgramResult result = run_winnow(GetParam().arguments);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.out << result.err;
  EXPECT_NE(result.err.find(GetParam().says), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "") << "mistakes are reported on stderr";
}

const std::vector<BadCommand> kBadCommands{
    {"UnknownCommand", {"evall"}, 2, "did you mean 'eval'"},
    {"UnknownOption", {"leaderboard", "--tpo", "3"}, 2, "--top"},
    {"UnknownTask", {"eval", "row_sofmax", "tests/buggy/no_guard.cu"}, 2, "row_softmax"},
    {"UnknownDevice", {"eval", "axpy", "tests/buggy/no_guard.cu", "--device", "cup"}, 2, "cpu"},
    {"NoGpu", {"eval", "axpy", "tests/buggy/no_guard.cu", "--device", "hip"}, 3, "hip"},
    {"CpuHasNoOtherGpu", {"baseline", "gpus", "axpy", "--device", "cpu"}, 2, "compares GPUs"},
    {"MissingFile", {"eval", "axpy", "tests/buggy/none.cu"}, 2, "none.cu"},
    {"Folder", {"eval", "axpy", "tests"}, 2, "directory"},
    {"UnknownKey", {"run", "--set", "run.stratgy=x"}, 2, "strategy"},
    {"UnknownStrategy", {"run", "--strategy", "cuda-forge"}, 2, "did you mean 'cudaforge'?"},
    {"MissingConfig", {"run", "configs/none.toml"}, 2, "none.toml"},
    {"MissingStore", {"leaderboard", "--store", "runs/none.db"}, 2, "none.db"},
    {"UnknownSelection", {"export", "training", "--select", "best"}, 2, "supervised"},
    {"UnknownRun", {"resume", "nothing", "--store", "runs/none.db"}, 2, "none.db"},
};
std::string command_name(const testing::TestParamInfo<BadCommand>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Cli, BadCommandLine, testing::ValuesIn(kBadCommands), command_name);

struct BadFile {
  const char* name;
  std::string text;
  const char* says;
};

class BadKernelFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadKernelFile, IsABadPlan) {
  const TemporaryDirectory directory("kernel");
  const auto path = directory.path() / "kernel.cu";
  write_file_atomic(path, GetParam().text);
  const ProgramResult result = run_winnow({"eval", "axpy", path.string(), "--json"});
  EXPECT_EQ(result.exit_code, 10) << result.err;
  const nlohmann::json evaluation = json_output(result);
  EXPECT_EQ(evaluation.value("verdict", ""), "bad_plan") << result.out;
  EXPECT_NE(evaluation.value("detail", "").find(GetParam().says), std::string::npos) << result.out;
}

std::string planned(const std::string& launch) {
  return "/*@winnow {\"launches\": [{\"kernel\": \"k\", " + launch +
         ", \"args\": [\"x\", \"y\", \"z\", \"n\"]}]} @*/\n"
         "__global__ void k(const float* x, const float* y, float* z, int n) {}\n";
}

const std::vector<BadFile> kBadFiles{
    {"Empty", "", "empty"},
    {"NulByte", planned("\"grid\": [1], \"block\": [1]") + std::string(1, '\0'), "NUL"},
    {"InvalidUtf8", planned("\"grid\": [1], \"block\": [1]") + "// \xFF", "UTF-8"},
    {"UnclosedPlan", "/*@winnow {\"launches\": []}", "@*/"},
    {"NoPlan", "__global__ void k() {}", "plan"},
    {"HugeGrid", planned("\"grid\": [1099511627776], \"block\": [1]"), "1099511627776"},
    {"ZeroThreads", planned("\"grid\": [1], \"block\": [0]"), "block[0]"},
    {"NegativeGrid", planned("\"grid\": [\"0 - n\"], \"block\": [1]"), "grid[0]"},
    {"UndefinedSymbol", planned("\"grid\": [\"m\"], \"block\": [1]"), "unknown name 'm'"},
    {"DivisionByZero", planned("\"grid\": [\"n / (n - n)\"], \"block\": [1]"), "divi"},
};
std::string file_name(const testing::TestParamInfo<BadFile>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Cli, BadKernelFile, testing::ValuesIn(kBadFiles), file_name);

TEST(KernelFile, Of64MebibytesIsRefusedBeforeItIsRead) {
  const TemporaryDirectory directory("kernel");
  const auto path = directory.path() / "large.cu";
  write_file_atomic(path, "x");
  std::filesystem::resize_file(path, 64U << 20U);
  const ProgramResult result = run_winnow({"eval", "axpy", path.string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("at most"), std::string::npos) << result.err;
}

TEST(KernelFile, ComesThroughAPipe) {
  const TemporaryDirectory directory("pipe-kernel-test");
  const std::string pipe = (directory.path() / "kernel").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream(pipe) << read_file(project_folder() / "tasks/catalogue/blas/axpy/baseline.cu",
                                     1U << 20U);
  });
  const ProgramResult result = run_winnow(
      {"eval", "axpy", pipe, "--device", "cpu", "--no-timing", "--no-promotion", "--no-check"});
  close(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)); // lets a writer go that nobody read
  writer.join();
  EXPECT_THAT(result.out, HasSubstr("correct"));
}

TEST(Doctor, NamesWhatWorksAndWhatToInstall) {
  const ProgramResult result = run_winnow({"doctor", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json doctor = json_output(result);
  EXPECT_EQ(doctor.value("schema", ""), "winnow.doctor");
  const ProgramResult text = run_winnow({"doctor"});
  for (const char* said : {"cpu", "clang++", "g++", "bubblewrap", "landlock+seccomp", "rlimits",
                           "replay", "OPENAI_API_KEY", "ollama", "vllm", "llamacpp", "->"}) {
    EXPECT_NE(text.out.find(said), std::string::npos) << said << " is not in\n" << text.out;
  }
}

#ifdef WINNOW_CUDA_DOUBLE
TEST(Doctor, ShowsOnlyTheGpusThatTheUserLeavesVisible) {
  ProgramOptions options;
  options.environment["WINNOW_CUDA_LIBRARY"] = WINNOW_CUDA_DOUBLE;
  EXPECT_THAT(run_winnow({"doctor"}, options).out, HasSubstr("has no function cu"));
  options.environment["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_THAT(run_winnow({"doctor"}, options).out, HasSubstr("it sees no NVIDIA GPU"));
}
#endif

TEST(RequiredIsolation, FailsClosed) {
  // Without bubblewrap in PATH, no kernel may run.
  ProgramOptions options;
  options.environment["PATH"] = "/nonexistent";
  const ProgramResult result = run_winnow({"eval", "axpy", "tasks/catalogue/blas/axpy/baseline.cu",
                                           "--require-isolation", "bubblewrap"},
                                          options);
  EXPECT_TRUE(result.exit_code == 4 || result.exit_code == 3) << result.exit_code << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(ARunThatDiesAtItsStart, HasAnEndInTheStore) {
  const TemporaryDirectory directory("cli-test");
  const std::string store = (directory.path() / "a.db").string();
  const auto kernel = project_folder() / "tasks/catalogue/blas/axpy/baseline.cu";
  ASSERT_EQ(run_winnow({"eval", "axpy", kernel.string(), "--store", store}).exit_code, 0);
  SQLite::Database(store, SQLite::OPEN_READWRITE)
      .exec("CREATE UNIQUE INDEX no_room_for_a_candidate ON candidates (id * 0)"); // it has one
  const ProgramResult died =
      run_winnow({"run", "quickstart", "--device", "cpu", "--store", store, "--name", "dies"});
  EXPECT_NE(died.exit_code, 0) << died.err;
  EXPECT_THAT(died.err, HasSubstr("no_room_for_a_candidate"));
  SQLite::Database database(store);
  EXPECT_EQ(database.execAndGet("SELECT status FROM runs WHERE name = 'dies'").getString(),
            "failed");
  EXPECT_THAT(database.execAndGet("SELECT detail FROM events WHERE kind = 'died'").getString(),
              HasSubstr("no_room_for_a_candidate"));
}

TEST(ARunThatDiesLater, SaysHowToGoOn) {
  const TemporaryDirectory directory("cli-test");
  const std::string store = (directory.path() / "a.db").string();
  const auto kernel = project_folder() / "tasks/catalogue/blas/axpy/baseline.cu";
  ASSERT_EQ(run_winnow({"eval", "axpy", kernel.string(), "--store", store}).exit_code, 0);
  SQLite::Database(store, SQLite::OPEN_READWRITE)
      .exec("CREATE UNIQUE INDEX no_room_for_an_evaluation ON evaluations (id * 0)"); // it has one
  const ProgramResult died = run_winnow({"run", "quickstart", "--device", "cpu", "--store", store,
                                         "--name", "dies", "--task", "axpy"});
  EXPECT_EQ(died.exit_code, 1) << died.err;
  EXPECT_THAT(died.err, HasSubstr("to go on when the cause is mended: winnow resume dies --store " +
                                  store + "\nerror: "));
}

TEST(AMistakeInATemplate, LeavesNoRun) {
  const TemporaryDirectory directory("cli-test");
  write_file_atomic(directory.path() / "system.md", "{{nonsense}}\n");
  const std::string store = (directory.path() / "a.db").string();
  const ProgramResult refused =
      run_winnow({"run", "quickstart", "--device", "cpu", "--store", store, "--set",
                  "prompts.directory=" + directory.path().string()});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("unknown placeholder"));
  EXPECT_FALSE(std::filesystem::exists(store));
}

} // namespace
} // namespace winnow::test
