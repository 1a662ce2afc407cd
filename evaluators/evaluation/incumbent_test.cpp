// Incumbents and finalists that are right until a moment and bad after it, on the CPU device.
#include "base/files.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/evaluation/open_devices.h"
#include "evaluators/evaluation/sitting.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

/// A kernel of reduce_sum. `bad` is run by each thread of a launch that begins after `until`, by
/// the clock that kernels read on the CPU device.
std::string sum_kernel(const std::string& bad = "", steady_clock::time_point until = {}) {
  return fmt::format(
      R"cu(/*@winnow
{{ "launches": [ {{ "fill": "out", "value": 0 }},
    {{ "kernel": "add", "grid": ["min(ceil_div(n, 128), 128)"], "block": [128],
      "args": ["x", "out", "n"] }} ] }}
@*/
extern "C" __global__ void add(const float* __restrict__ x, float* out, int n) {{
  if (clock64() > {}LL) {{ {} }}
  float sum = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {{
    sum += x[i];
  }}
  for (int offset = 16; offset > 0; offset /= 2) {{
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }}
  if (threadIdx.x % 32 == 0) {{
    atomicAdd(out, sum);
  }}
}}
)cu",
      std::chrono::nanoseconds(until.time_since_epoch()).count(), bad);
}

const std::string kIdle = "return;";
const std::string kTraps = "__trap();";
const std::string kFrames = "if (threadIdx.x == 0 && blockIdx.x == 0) { out[-1] = 1; }";
const std::string kWrong = "if (threadIdx.x == 0 && blockIdx.x == 0) { atomicAdd(out, 1e6f); }";
const std::string kDawdles = "volatile float waste = 0; for (int i = 0; i < 3000; ++i) { waste = "
                             "waste + x[i % n]; }";

class IncumbentRace : public testing::Test {
protected:
  void SetUp() override {
    options_.cache = cache_.path();
    options_.device = "cpu";
    options_.check = false;
    options_.promotion = false;
    options_.tiny_seeds = 1;
    options_.time_budget = std::chrono::milliseconds(30);
    try {
      host_ = open_device(select_device("cpu"), options_, options_.run_timeout);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }
  static tasks::Task task() {
    return tasks::load_task(std::string(WINNOW_SOURCE_DIR) +
                            "/tasks/catalogue/reduction/reduce_sum");
  }
  /// The evaluation of a good kernel that races against `incumbent`.
  tasks::Evaluation against(const std::string& incumbent, const EarnedSpeed& earned = {},
                            const std::string& challenger = sum_kernel()) {
    Evaluator evaluator(task(), host_, options_);
    EvaluationRequest request;
    request.text = challenger;
    request.file_name = "challenger.cu";
    request.incumbent = KernelToBeat{incumbent, {}, earned};
    return evaluator.evaluate(request).front();
  }

  TemporaryDirectory cache_{"incumbent-test"};
  EvaluationOptions options_;
  std::shared_ptr<DeviceHost> host_;
};

TEST_F(IncumbentRace, OfAGoodIncumbentHasAResult) {
  const tasks::Evaluation evaluation = against(sum_kernel());
  EXPECT_EQ(evaluation.verdict, tasks::Verdict::Correct) << evaluation.detail;
  EXPECT_TRUE(evaluation.race.has_value());
  EXPECT_FALSE(evaluation.suspended.has_value()) << evaluation.suspended->why;
}

TEST_F(IncumbentRace, ABadIncumbentIsSuspendedAndNobodyElseIsBlamed) {
  const std::pair<std::string, std::string> bad[] = {{kIdle, "a timed launch was wrong"},
                                                     {kWrong, "a timed launch was wrong"},
                                                     {kTraps, "it fails alone, too"},
                                                     {kFrames, "it fails alone, too"}};
  for (const auto& [body, why] : bad) {
    const std::string incumbent = sum_kernel(body);
    const tasks::Evaluation evaluation = against(incumbent);
    EXPECT_EQ(evaluation.verdict, tasks::Verdict::Correct) << body << evaluation.detail;
    EXPECT_GT(evaluation.speedup, 0);
    EXPECT_FALSE(evaluation.race.has_value());
    ASSERT_TRUE(evaluation.suspended.has_value()) << body;
    EXPECT_EQ(evaluation.suspended->kernel, tasks::kernel_digest(incumbent, {}));
    EXPECT_THAT(evaluation.suspended->why, HasSubstr(why));
  }
}

TEST_F(IncumbentRace, AnIncumbentOfAnotherSpeedIsSuspended) {
  const EarnedSpeed ten_times_the_baseline{1e4, {9e3, 1.1e4}};
  for (const std::string& body : {std::string(), kDawdles}) {
    const tasks::Evaluation evaluation = against(sum_kernel(body), ten_times_the_baseline);
    EXPECT_EQ(evaluation.verdict, tasks::Verdict::Correct) << evaluation.detail;
    ASSERT_TRUE(evaluation.suspended.has_value()) << body;
    EXPECT_THAT(evaluation.suspended->why, HasSubstr("its speed over the baseline is"));
  }
}

TEST_F(IncumbentRace, AnIncumbentThatDoesNotCompileIsSuspended) {
  const tasks::Evaluation evaluation = against(sum_kernel("no_such_function();"));
  EXPECT_EQ(evaluation.verdict, tasks::Verdict::Correct) << evaluation.detail;
  ASSERT_TRUE(evaluation.suspended.has_value());
  EXPECT_THAT(evaluation.suspended->why, HasSubstr("it does not compile"));
}

TEST_F(IncumbentRace, ABadChallengerIsBlamedAndTheIncumbentIsNot) {
  // Right until its launches are timed, and bad from then on.
  for (const std::string& body : {kTraps, kFrames}) {
    for (int seconds = 1; seconds < 20; seconds *= 2) {
      const auto until = steady_clock::now() + std::chrono::seconds(seconds);
      options_.time_budget = std::chrono::seconds(seconds + 1);
      const tasks::Evaluation evaluation = against(sum_kernel(), {}, sum_kernel(body, until));
      if (evaluation.stage != tasks::Stage::Time) {
        continue; // this machine was too slow
      }
      EXPECT_NE(evaluation.verdict, tasks::Verdict::Correct);
      EXPECT_THAT(evaluation.detail, HasSubstr("while timing the kernel"));
      EXPECT_FALSE(evaluation.suspended.has_value());
      break;
    }
  }
}

/// The verdicts of a final between three good kernels and one that is bad after its admission.
std::vector<tasks::Verdict> final_with(const std::string& body, std::shared_ptr<DeviceHost> host,
                                       const EvaluationOptions& options) {
  for (int seconds = 2;; seconds *= 2) {
    const auto until = steady_clock::now() + std::chrono::seconds(seconds);
    SittingRequest::Board board;
    board.task = std::make_shared<const tasks::Task>(
        tasks::load_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue/reduction/reduce_sum"));
    for (const std::string& text : {sum_kernel("", until), sum_kernel(body, until),
                                    sum_kernel("n += 0;"), sum_kernel("n -= 0;")}) {
      board.finalists.push_back({text, "finalist.cu", {}, tasks::kernel_digest(text, {})});
    }
    Sitting sitting(board, host, options);
    sitting.admit();
    if (steady_clock::now() > until && seconds < 60) {
      continue; // this machine was too slow
    }
    std::this_thread::sleep_until(until);
    sitting.round();
    sitting.round();
    std::vector<tasks::Verdict> verdicts;
    const tasks::SittingResult result = sitting.result();
    for (const Finalist& finalist : board.finalists) {
      for (const tasks::SittingRow& row : result.rows) {
        if (row.kernel == finalist.kernel) {
          verdicts.push_back(row.verdict);
        }
      }
    }
    return verdicts;
  }
}

TEST_F(IncumbentRace, AFinalDropsTheGuiltyOneOnly) {
  for (const std::string& body : {kIdle, kTraps, kFrames}) {
    const std::vector<tasks::Verdict> verdicts = final_with(body, host_, options_);
    ASSERT_EQ(verdicts.size(), 4U);
    for (const std::size_t good : {0U, 2U, 3U}) {
      EXPECT_EQ(verdicts[good], tasks::Verdict::Correct) << body;
    }
    if (body != kIdle) { // two rounds judge few launches
      EXPECT_NE(verdicts[1], tasks::Verdict::Correct) << body;
    }
  }
}

} // namespace
} // namespace winnow::evaluators
