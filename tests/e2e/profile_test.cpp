// Tests `winnow profile` and `winnow race` of the real program, with real launches on the CPU
// device.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kProfiled = "tasks/catalogue/blas/axpy/baseline.cu";

// A correct and very slow kernel: it computes everything twenty times.
constexpr const char* kSlow = R"cuda(/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
extern "C" __global__ void axpy(const float* x, const float* y, volatile float* z, float alpha,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int again = 0; i < n && again < 20; ++again) {
    z[i] = alpha * x[i] + y[i];
  }
}
)cuda";

ProgramResult race(const std::string& a, const std::string& b) {
  return run_winnow({"race", "axpy", a, b, "--device", "cpu", "--time-budget", "1s", "--json"});
}

TEST(Profile, MeasuresEveryShapeOnTheCpu) {
  const ProgramResult result =
      run_winnow({"profile", "axpy", kProfiled, "--device", "cpu", "--no-energy", "--param",
                  "BLOCK=128", "--time-budget", "100ms", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json_output(result);
  EXPECT_EQ(document.value("schema", ""), "winnow.profile");
  EXPECT_EQ(document.at("kernel").at("parameters").at("BLOCK"), 128);
  ASSERT_EQ(document.at("shapes").size(), 2U);
  for (const json& shape : document.at("shapes")) {
    const json& kernel = shape.at("kernel");
    EXPECT_GT(kernel.at("median_ns"), 0) << shape;
    EXPECT_GT(kernel.at("warm_median_ns"), 0) << shape;
    EXPECT_EQ(kernel.at("profile").at("launch").at("threads_per_block"), 128) << shape;
    EXPECT_FALSE(kernel.at("profile").at("counters").at("counters").empty()) << shape;
    EXPECT_TRUE(kernel.at("profile").at("speed_of_light").is_null()) << "as the board says";
    EXPECT_THAT(kernel.at("profile").at("no_speed_of_light"), HasSubstr("on fibers"));
  }
}

TEST(Profile, TellsBankConflictsFromMemoryOnTheCpu) {
  const char* task = "measure/tasks/transpose";
  EXPECT_EQ(profiled_limiter(task, "measure/tasks/transpose/baseline.cu", "cpu"), "DRAM bandwidth");
  EXPECT_EQ(profiled_limiter(task, "measure/kernels/transpose_conflicts.cu", "cpu"),
            "shared memory");
}

TEST(Profile, AWrongKernelHasNone) {
  const ProgramResult result =
      run_winnow({"profile", "reduce_sum", "tests/buggy/missing_barrier.cu", "--device", "cpu"});
  EXPECT_EQ(result.exit_code, 10) << result.err;
  EXPECT_THAT(result.out, HasSubstr("no profile"));
}

TEST(Profile, MistakesAreUsageErrors) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"profile", "axpy", "nowhere.cu"},
        {"profile", "axpy", kProfiled, "--param", "BLOKC=128"},
        {"profile", "axpy", kProfiled, "--param", "BLOCK=100"},
        {"profile", "axpy", kProfiled, "--counters", "some"},
        {"profile", "axpy", kProfiled, "--against-param", "BLOCK=128"},
        {"race", "axpy", kProfiled},
        {"race", "axpi", kProfiled, kProfiled}}) {
    const ProgramResult result = run_winnow(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  }
}

TEST(Race, ASlowKernelLosesAndItsRivalWins) {
  const TemporaryDirectory directory("race");
  const std::string slow = directory.path() / "slow.cu";
  write_file_atomic(slow, kSlow);
  const ProgramResult lost = race(slow, kProfiled);
  ASSERT_EQ(lost.exit_code, 0) << lost.err;
  EXPECT_EQ(json_output(lost).at("verdict"), "slower") << lost.out;
  const ProgramResult won = race(kProfiled, slow);
  ASSERT_EQ(won.exit_code, 0) << won.err;
  const json document = json_output(won);
  EXPECT_EQ(document.at("verdict"), "faster") << won.out;
  EXPECT_GT(document.at("ratio"), 1);
  EXPECT_EQ(document.at("shapes").size(), 2U);
}

// One race in two hundred may end with "faster" by chance; two in a row must not.
TEST(Race, AKernelIsNotFasterThanItself) {
  bool faster = true;
  for (int attempt = 0; attempt < 2 && faster; ++attempt) {
    const ProgramResult result = race(kProfiled, kProfiled);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    faster = json_output(result).at("verdict") == "faster";
  }
  EXPECT_FALSE(faster);
}

TEST(Profile, AStoreKeepsWhatItAndARaceMeasured) {
  const TemporaryDirectory directory("profile");
  const std::string store = directory.path() / "store.db", slow = directory.path() / "slow.cu";
  write_file_atomic(slow, kSlow);
  const auto measure = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--device", "cpu", "--time-budget", "50ms", "--max-samples", "20",
                               "--store", store});
    const ProgramResult result = run_winnow(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(measure({"race", "axpy", kProfiled, slow}), HasSubstr("slow.cu: is candidate 1"));
  EXPECT_THAT(measure({"profile", "axpy", "@2", "--no-energy"}), HasSubstr("@2: is candidate 2;"));
  const ProgramResult shown = run_winnow({"show", "2", "--store", store});
  for (const char* line : {"race asked for: against @1: ", "measured by winnow race on ",
                           "measured by winnow profile on "}) {
    EXPECT_THAT(shown.out, HasSubstr(line));
  }
  const ProgramResult page = run_winnow({"export", "html", "--store", store});
  EXPECT_THAT(page.out, HasSubstr("\"asked_by\":\"profile\""));
  EXPECT_THAT(page.out, HasSubstr("\"source\":\"asked for\""));
}

TEST(Race, NeedsTwoCorrectKernels) {
  const ProgramResult result =
      run_winnow({"race", "reduce_sum", "tasks/catalogue/reduction/reduce_sum/baseline.cu",
                  "tests/buggy/missing_barrier.cu", "--device", "cpu"});
  EXPECT_EQ(result.exit_code, 10) << result.err;
  EXPECT_THAT(result.out, HasSubstr("no race: B is not correct"));
}

} // namespace
} // namespace winnow::test
