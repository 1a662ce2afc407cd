// Tests `winnow baseline torch` of the real program: with a stand-in for Python that follows the
// real script's protocol, and with PyTorch if it is installed.
#include "base/files.h"
#include "tests/e2e/python_stand_in.h"
#include "tests/e2e/winnow_program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTaskToml = R"(title = "Copy"
description = "y[i] = x[i]"
operations = "n"
bytes = "8 * n"
[axes]
n = "elements"
[tensors.x]
role = "input"
dtype = "f32"
shape = ["n"]
[tensors.y]
role = "output"
dtype = "f32"
shape = ["n"]
[scalars.unused]
dtype = "f32"
value = 0.1
[tolerance]
precision = "f32"
multiple = "1"
[[shapes.tiny]]
n = 5
[[shapes.search]]
n = 1000
[[shapes.promotion]]
n = 7
[[shapes.held_out]]
n = 11
)";

constexpr const char* kReference = R"cu(/*@winnow
{ "launches": [ { "kernel": "copy", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["x", "y", "y_magnitude", "n"] } ] }
@*/
extern "C" __global__ void copy(const float* x, double* y, double* size, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i];
    size[i] = fabs(x[i]);
  }
}
)cu";

constexpr const char* kBaseline = R"cu(/*@winnow
{ "launches": [ { "kernel": "copy", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["x", "y", "n"] } ] }
@*/
extern "C" __global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i];
  }
}
)cu";

constexpr const char* kPython = R"(import torch


class Model(torch.nn.Module):
    def __init__(self, unused):
        super().__init__()

    def forward(self, x):
        return x.clone().reshape(n)  # fails for another size than that of x


n = 1000


def get_inputs():
    return [torch.randn(n)]


def get_init_inputs():
    return [0.1]
)";

/// Actions of a stand-in for one request, which is in `$line`. They follow the real script's
/// protocol.
constexpr const char* kCopies = "cp in_0.raw out_0.raw\n";
constexpr const char* kZeroes = "head -c $(wc -c <in_0.raw) /dev/zero >out_0.raw\n";
constexpr const char* kDies = "echo 'out of luck' >&2; exit 3\n";
constexpr const char* kSleeps = "sleep 60\n";
constexpr const char* kTalksNonsense = "echo nonsense; continue\n";

struct BaselineTest : testing::Test {
  BaselineTest() {
    fs::create_directories(task_folder);
    put(task_folder / "task.toml", kTaskToml);
    put(task_folder / "reference.cu", kReference);
    put(task_folder / "baseline.cu", kBaseline);
    put(task_folder / "reference.py", kPython);
  }

  static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  /// A stand-in for Python that cannot compile. It answers eager requests with the action `eager`.
  std::string stand_in(const std::string& eager, const std::string& more_hello = "") const {
    const fs::path path = directory.path() / "python3";
    put(path,
        std::string(kPythonStandIn) +
            "cd \"$2\" && [ -f reference.py ] && [ \"$3\" = cpu ] || exit 9\n"
            "[ -z \"$WINNOW_TEST_SECRET\" ] || exit 8\n"
            "echo '{\"torch\": \"9.9.9\", \"device\": \"cpu\"" +
            more_hello +
            "}'\n"
            "while read -r line; do\n"
            "case \"$line\" in *'\"mode\":\"compile\"'*)\n"
            "  echo '{\"error\":\"no compiler here\",\"times_ns\":[]}'; continue;; esac\n" +
            eager +
            "case \"$line\" in *'\"sampling\":null'*) times='[]';; *) "
            "times='[[3000,1000,2000]]';; esac\n"
            "echo \"{\\\"error\\\":null,\\\"times_ns\\\":$times,\\\"errors\\\":[null]}\"\ndone\n");
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  ProgramResult run(const std::string& python, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"baseline",     "torch",    task_folder.string(),
                                       "--device",     "cpu",      "--store",
                                       store.string(), "--python", python};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramOptions options;
    options.environment["WINNOW_TEST_SECRET"] = "key";
    return run_winnow(arguments, options);
  }

  /// Name, shape, median, agreement and error of each stored row.
  std::vector<std::string> stored() const {
    SQLite::Database database(store.string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(database,
                            "SELECT name || '|' || shape_id || '|' || coalesce(median_ns, '-') || "
                            "'|' || coalesce(agrees, '-') || '|' || coalesce(error, '-') "
                            "FROM baseline_timings ORDER BY id");
    std::vector<std::string> rows;
    while (query.executeStep()) {
      rows.push_back(query.getColumn(0).getString());
    }
    return rows;
  }

  TemporaryDirectory directory{"baseline-test"};
  fs::path task_folder = directory.path() / "copying";
  fs::path store = directory.path() / "store.db";
};

TEST_F(BaselineTest, TimesComparesAndStores) {
  const ProgramResult result = run(stand_in(kCopies), {"--json"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const json document = json_output(result);
  EXPECT_EQ(document.value("schema", ""), "winnow.baselines");
  const json& search = document.at("baselines").at(1);
  EXPECT_EQ(search.at("name"), "torch eager");
  EXPECT_EQ(search.at("version"), "9.9.9");
  EXPECT_EQ(search.at("median_ns"), 2000);
  EXPECT_EQ(search.at("max_error_ratio"), 0);
  EXPECT_THAT(stored(),
              testing::ElementsAre("torch eager|tiny/0|-|1|-", "torch eager|search/0|2000.0|1|-",
                                   "torch.compile|search/0|-|-|no compiler here"));
}

TEST_F(BaselineTest, ATorchWithoutACompilerIsTimedEagerly) {
  const std::string python = stand_in(
      kCopies,
      ", \"no_compile\": \"torch 9.9.9 has no torch.compile; install torch 2.0 or later\"");
  const ProgramResult result = run(python);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("\ntorch.compile: torch 9.9.9 has no torch.compile; install torch 2.0 or "
                        "later\n"));
  EXPECT_THAT(stored(),
              testing::ElementsAre("torch eager|tiny/0|-|1|-", "torch eager|search/0|2000.0|1|-"));
  EXPECT_THAT(json_output(run(python, {"--json"})).at("no_compile"),
              "torch 9.9.9 has no torch.compile; install torch 2.0 or later");
}

TEST_F(BaselineTest, EagerLeavesTheCompilerOut) {
  const ProgramResult result = run(stand_in(kCopies), {"--json", "--eager"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const json document = json_output(result);
  EXPECT_EQ(document.value("no_compile", ""), "left out by --eager");
  for (const json& row : document.at("baselines")) {
    EXPECT_EQ(row.value("name", ""), "torch eager");
  }
}

TEST_F(BaselineTest, TheTableHasTheStoredTimesBesideBaselineCu) {
  ASSERT_EQ(run(stand_in(kCopies)).exit_code, 0);
  const ProgramResult result = run_winnow(
      {"baseline", "table", task_folder.string(), "--device", "cpu", "--store", store.string()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("| task | shape | baseline.cu, us | speed of light |"));
  EXPECT_THAT(result.out, testing::ContainsRegex("[|] copying [|] n=1000[^|]*[|] [0-9.]+ [|] +[|]"))
      << "of a CPU the speed of light is not known";
  EXPECT_THAT(result.out, HasSubstr("| 2.00 | no time | torch.compile: no compiler here |"));
}

TEST_F(BaselineTest, ATaskThatTakesTooLongCostsNoOtherTaskItsRows) {
  const ProgramResult result =
      run_winnow({"baseline", "table", task_folder.string(), task_folder.string(), "--device",
                  "cpu", "--task-limit", "1ms"});
  EXPECT_EQ(result.exit_code, 10) << result.out << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 4) << result.out;
  EXPECT_THAT(result.out, HasSubstr("not finished after 1 ms"));
}

TEST_F(BaselineTest, ABaselineThatIsWrongHasANote) {
  put(task_folder / "baseline.cu",
      std::string(kBaseline).replace(std::string(kBaseline).find("= x[i]"), 6, "= 3 + x[i]"));
  const ProgramResult result =
      run_winnow({"baseline", "table", task_folder.string(), "--device", "cpu"});
  EXPECT_EQ(result.exit_code, 10) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("wrong"));
}

/// Answers what expert.py offers, and what runs and is timed after it.
constexpr const char* kOffers = R"(case "$line" in
*'"mode":"alternatives"'*) [ -f expert.py ] || exit 7
  echo '{"error":null,"names":["a copy","zeros"],"none":""}'; continue;;
*'"mode":"zeros"'*) head -c $(wc -c <in_0.raw) /dev/zero >out_0.raw;;
*'"modes":'*) [ -f other_0.raw ] && ! cmp -s other_0.raw in_0.raw || exit 6
  echo '{"error":null,"times_ns":[[9,9,9],[3,5,4],[]],"errors":[null,null,"out of memory"]}'
  continue;;
*) cp in_0.raw out_0.raw;; esac
)";

TEST_F(BaselineTest, AlternativesOfExpertPyAreComparedAndTimed) {
  put(task_folder / "expert.py", "def alternatives(model, x): return {}\n");
  const ProgramResult result = run(stand_in(kOffers));
  EXPECT_EQ(result.exit_code, 0) << "an alternative may be wrong: " << result.out << result.err;
  const std::vector<std::string> rows = stored();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[1], "torch eager|search/0|9.0|1|-");
  EXPECT_EQ(rows[3], "a copy|search/0|4.0|1|-");
  EXPECT_EQ(rows[4], "zeros|search/0|-|0|out of memory");
}

TEST_F(BaselineTest, AnExpertPyThatFailsIsARowOfItsOwn) {
  put(task_folder / "expert.py", "import missing\n");
  const ProgramResult result =
      run(stand_in("case \"$line\" in *alternatives*) echo '{\"error\":\"no module\"}'; "
                   "continue;; esac\ncp in_0.raw out_0.raw\n"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(stored(), testing::Contains("expert.py|search/0|-|-|no module"));
  EXPECT_THAT(stored(), testing::Contains("torch eager|search/0|2000.0|1|-"));
}

// The stand-in refuses the first question about "compile once", as where memory is short.
constexpr const char* kCompilesOnce = R"(case "$line" in
*'"mode":"compile once"'*) if [ ! -f ../made ]; then touch ../made
  echo '{"error":"out of memory"}'; continue; fi;;
*'"mode":"alternatives"'*) echo '{"error":null,"names":["compile once"],"none":""}'; continue;;
*'"modes":'*) [ -f ../made ] || exit 7
  echo '{"error":null,"times_ns":[[9],[5]],"errors":[null,null]}'; continue;; esac
cp in_0.raw out_0.raw
)";

TEST_F(BaselineTest, SeveralTasksAnswerFirstAndOneThatFailsCostsNoOtherItsTimes) {
  put(task_folder / "expert.py", "def alternatives(model, x): return {}\n");
  const fs::path bad = directory.path() / "failing";
  fs::copy(task_folder, bad);
  put(bad / "reference.cu", "no kernel file");
  const ProgramResult several = run(stand_in(kCompilesOnce), {bad.string(), "--jobs", "2"});
  EXPECT_EQ(several.exit_code, 1) << several.out << several.err;
  EXPECT_THAT(several.err, HasSubstr("failing: they have no times"));
  EXPECT_THAT(stored(), testing::Contains("compile once|search/0|5.0|1|-"));
}

TEST_F(BaselineTest, AWrongAnswerIsStoredAsOneThatDiffers) {
  const ProgramResult result = run(stand_in(kZeroes));
  EXPECT_EQ(result.exit_code, 10) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("agrees with reference.cu"));
  EXPECT_THAT(result.out, HasSubstr("torch eager, search/0 (n=1000"));
  ASSERT_EQ(stored().size(), 3U);
  EXPECT_THAT(stored()[1], HasSubstr("torch eager|search/0|2000.0|0|y"));
  EXPECT_THAT(stored()[1], HasSubstr("1000 of 1000 elements differ"));
}

TEST_F(BaselineTest, AChildThatDiesOrTalksNonsenseCostsItsOwnAnswerOnly) {
  for (const char* eager : {kDies, kTalksNonsense}) {
    fs::remove(store);
    const ProgramResult result = run(stand_in(eager));
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    ASSERT_EQ(stored().size(), 3U);
    EXPECT_THAT(stored()[0], HasSubstr("torch eager|tiny/0|-|-|"));
    EXPECT_THAT(stored()[0], HasSubstr(eager == kDies ? "out of luck" : "cannot read the answer"));
    EXPECT_THAT(stored()[2], HasSubstr("torch.compile|search/0|-|-|no compiler here"));
  }
}

TEST_F(BaselineTest, AChildThatHangsIsKilled) {
  const ProgramResult result = run(stand_in(kSleeps), {"--timeout", "500ms"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(stored().at(0), HasSubstr("no answer within"));
  EXPECT_LT(result.wall_seconds, 30);
}

TEST_F(BaselineTest, WithoutPyTorchNothingIsStored) {
  const fs::path python = directory.path() / "bare";
  put(python, std::string(kPythonStandIn) +
                  "echo '{\"missing\": \"bare cannot import torch: No module\"}'\n");
  fs::permissions(python, fs::perms::owner_all);
  const ProgramResult result = run(python.string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("bare cannot import torch"));
  EXPECT_THAT(result.err, HasSubstr("remedy: install PyTorch with `pip install torch`"));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(fs::exists(store));
}

TEST_F(BaselineTest, ASearchEndsWhenItsKernelPassesTheBestAlternative) {
  ASSERT_EQ(run(stand_in(kCopies)).exit_code, 0);
  std::string replies;
  for (int i = 0; i < 3; ++i) { // files that differ
    const std::string kernel = kBaseline + std::string("// ") + std::to_string(i) + "\n";
    replies += json{{"schema", "winnow.call"},
                    {"version", 1},
                    {"key", "copying/0/" + std::to_string(i)},
                    {"model", "recorded-model"},
                    {"reply", "```cuda\n" + kernel + "```\n"}}
                   .dump() +
               '\n';
  }
  put(directory.path() / "replies.jsonl", replies);
  put(directory.path() / "run.toml", "[run]\ntasks = [\"" + task_folder.string() +
                                         "\"]\ndevice = \"cpu\"\nproposals = 3\nfinalists = 0\n"
                                         "[endpoint]\nkind = \"replay\"\nfile = "
                                         "\"replies.jsonl\"\nmodel = \"recorded-model\"\n");
  const ProgramResult result =
      run_winnow({"run", (directory.path() / "run.toml").string(), "--store", store.string(),
                  "--until", "vs_best > 0.000001"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("copying: the search is over: vs_best is "));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("copying/0/1")));
}

TEST_F(BaselineTest, AModuleIsRunInOtherWays) {
  const ProgramResult result = run_winnow(
      {"baseline", "torch", "tests/bench/suite/level1/1_ShiftedReLU", "--device", "cpu", "--python",
       WINNOW_PROJECT_FOLDER "/tests/bench/python_for_bench.py", "--store", store.string()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(stored(), testing::ElementsAre("torch eager|search/0|1000000000.0|1|-",
                                             "torch.compile|search/0|1000000000.0|1|-"));
}

TEST_F(BaselineTest, WithoutPythonTheOptionIsNamed) {
  const ProgramResult result = run("no_such_python");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--python no_such_python"));
}

/// A Python that can import torch; empty if there is none.
std::string python_with_torch() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    process::Command command;
    command.argv = {"/usr/bin/env", python, "-c", "import torch"};
    command.environment["PATH"] = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    command.limits.wall = std::chrono::minutes(1);
    if (process::run_child(command, "").exit_code == 0) {
      return python;
    }
  }
  return {};
}

TEST_F(BaselineTest, TheRealScriptAgreesWhereTorchIsInstalled) {
  const std::string python = python_with_torch();
  if (python.empty()) {
    GTEST_SKIP() << "no python3 can import torch";
  }
  const ProgramResult result = run(python);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(stored(), testing::Contains("torch eager|tiny/0|-|1|-"));
  EXPECT_THAT(stored(), testing::Contains(
                            testing::MatchesRegex("torch eager\\|search/0\\|[0-9.e+]+\\|1\\|-")));
}

} // namespace
} // namespace winnow::test
