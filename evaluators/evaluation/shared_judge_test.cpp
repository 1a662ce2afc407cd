// Evaluates baselines of the catalogue on the CPU device.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/evaluation/open_devices.h"
#include "evaluators/evaluation/ordered_results.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "tasks/parse/task_parse.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

class SharedJudge : public testing::Test {
protected:
  void SetUp() override {
    options_.cache = cache_.path();
    options_.device = "cpu";
    options_.timing = false;
    options_.promotion = false;
    options_.check = false;
    options_.seed = 7; // both tasks have shapes "tiny/0", and now also the same seeds
    try {
      host_ = open_device(select_device("cpu"), options_, options_.run_timeout);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static tasks::Task task(const std::string& name) {
    return tasks::load_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue/" + name);
  }
  static std::string verdict_of(Evaluator& evaluator, const std::string& text) {
    const tasks::Evaluation evaluation = evaluator.evaluate_text(text, "kernel.cu");
    return evaluation.verdict == tasks::Verdict::Correct || evaluation.detail.empty()
               ? std::string(to_string(evaluation.verdict))
               : fmt::format("{}: {}", to_string(evaluation.verdict), evaluation.detail);
  }

  TemporaryDirectory cache_{"shared-judge-test"};
  EvaluationOptions options_;
  std::shared_ptr<DeviceHost> host_;
};

TEST_F(SharedJudge, ServesTwoTasksByTurns) {
  Evaluator axpy(task("blas/axpy"), host_, options_);
  Evaluator sum(task("reduction/reduce_sum"), host_, options_);
  std::string wrong = axpy.task().baseline;
  wrong.replace(wrong.find("+ y[i]"), 6, "+ 1000.0f"); // far off at every element
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(verdict_of(axpy, axpy.task().baseline), "correct");
    EXPECT_EQ(verdict_of(sum, sum.task().baseline), "correct");
    EXPECT_THAT(verdict_of(axpy, wrong), testing::StartsWith("wrong: "));
  }
  EXPECT_EQ(statistics(*host_).judge_starts, 1);
}

TEST_F(SharedJudge, AnEvaluationSaysWhichDeviceJudged) {
  Evaluator axpy(task("blas/axpy"), host_, options_);
  const tasks::Evaluation on_cpu = axpy.evaluate_text(axpy.task().baseline, "kernel.cu");
  EXPECT_EQ(on_cpu.device_uuid, "") << "a CPU has none";
  EXPECT_EQ(on_cpu.driver, "");
  host_->device.uuid = "GPU-1";
  host_->device.driver = "CUDA 13.0";
  const tasks::Evaluation bad = axpy.evaluate_text("no kernel", "kernel.cu");
  const tasks::Evaluation good = axpy.evaluate_text(axpy.task().baseline, "kernel.cu");
  for (const tasks::Evaluation& evaluation : {bad, good}) {
    EXPECT_EQ(evaluation.device_uuid, "GPU-1");
    EXPECT_EQ(evaluation.driver, "CUDA 13.0");
    EXPECT_EQ(evaluation.worker, "") << "no broker is between";
  }
}

// Who has learned the sizes of one evaluation has learned nothing about the next.
TEST_F(SharedJudge, DrawsHiddenSizesForOneEvaluation) {
  options_.promotion = true;
  options_.hidden_draw = 1;
  std::set<std::string> seen;
  std::size_t cases = 0;
  for (const std::uint64_t sizes : {1U, 2U}) {
    options_.hidden_sizes = sizes;
    Evaluator axpy(task("blas/axpy"), host_, options_);
    std::string knows = axpy.task().baseline;
    const tasks::Evaluation right = axpy.evaluate_text(knows, "kernel.cu");
    EXPECT_EQ(right.verdict, tasks::Verdict::Correct) << right.detail;
    for (const tasks::CaseResult& one : right.cases) {
      if (one.set == tasks::ShapeSet::Promotion) {
        seen.insert(one.shape);
        ++cases;
      }
    }
    knows.insert(knows.find("z[i] = "), "if (n == 65537 || n == 130050 || n == 880007) return; ");
    EXPECT_EQ(verdict_of(axpy, knows), "correct") << "the stated sizes are not among them";
  }
  EXPECT_GE(cases, 4U);
  EXPECT_EQ(seen.size(), cases);
}

// The reference of both tasks is the same module, and their shapes have the same names.
TEST_F(SharedJudge, TellsTasksApartThatShareAReference) {
  const tasks::Task small = task("blas/axpy");
  tasks::Task large = small;
  large.digest = "another";
  for (tasks::Shape& shape : large.shapes) {
    shape.axes["n"] += 1;
  }
  Evaluator of_small(small, host_, options_);
  Evaluator of_large(large, host_, options_);
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(verdict_of(of_small, small.baseline), "correct");
    EXPECT_EQ(verdict_of(of_large, small.baseline), "correct");
  }
  EXPECT_EQ(statistics(*host_).judge_starts, 1);
}

/// Knows whether a worker runs.
class WatchedRunner final : public Runner {
public:
  WatchedRunner(std::unique_ptr<Runner> runner, bool& runs)
      : runner_(std::move(runner)), runs_(runs) {}
  StageOutcome run(RunRequest request, const RunnerLimits& limits,
                   const std::function<bool()>& cancelled, const OnReport& on_report) override {
    runs_ = true;
    StageOutcome outcome = runner_->run(std::move(request), limits, cancelled, on_report);
    runs_ = false;
    return outcome;
  }

private:
  std::unique_ptr<Runner> runner_;
  bool& runs_;
};

TEST_F(SharedJudge, ComparesACaseWhileAStandingWorkerRunsTheNext) {
  bool runs = false;
  int beside_a_worker = 0, alone = 0;
  options_.waiting = [&](const Waiting& waiting) {
    if (waiting.what == "reference.cu answers, and the judge compares") {
      ++(runs ? beside_a_worker : alone);
    }
  };
  Evaluator axpy(task("blas/axpy"), host_, options_);
  host_->runner = std::make_unique<WatchedRunner>(
      make_standing_runner(host_->sandbox, host_->arena, host_->worker_device, host_->cache), runs);
  const std::string right = axpy.task().baseline;
  std::string wrong = right;
  wrong.replace(wrong.find("+ y[i]"), 6, "+ 1000.0f"); // far off at every element
  EXPECT_EQ(verdict_of(axpy, right), "correct");
  EXPECT_GT(beside_a_worker, 0);
  EXPECT_EQ(alone, 0);
  EXPECT_THAT(verdict_of(axpy, wrong), testing::StartsWith("wrong: "));
}

TEST_F(SharedJudge, AFailureIsTheAnswerToAllQuestionsOfACall) {
  JudgeRequest broken;
  broken.module = "/nowhere";
  const std::vector<JudgeReply> replies =
      host_->judge.ask(std::vector{broken, broken}, std::chrono::seconds(20));
  ASSERT_EQ(replies.size(), 2U);
  for (const JudgeReply& reply : replies) {
    EXPECT_EQ(reply.verdict, tasks::Verdict::Infrastructure);
    EXPECT_THAT(reply.detail, testing::HasSubstr("/nowhere"));
  }
  Evaluator axpy(task("blas/axpy"), host_, options_);
  EXPECT_EQ(verdict_of(axpy, axpy.task().baseline), "correct") << "of a new judge";
}

TEST_F(SharedJudge, ACancelledRequestLeavesItsTaskToTheNext) {
  OrderedResults results;
  std::unique_ptr<Evaluations> evaluations;
  options_.waiting = [&](const Waiting& waiting) {
    if (waiting.what == "runs the tiny shapes") {
      evaluations->cancel("endless");
    }
  };
  const OpenDevices devices(options_, options_.run_timeout);
  evaluations =
      devices.evaluations([&](EvaluationResult result) { results.put(std::move(result)); });
  EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task("blas/axpy"));
  request.protocol = options_;
  request.choices = {{{"BLOCK", 128}}};
  for (const std::string id : {"endless", "right"}) {
    request.id = id;
    request.text = request.task->baseline;
    if (id == "endless") {
      request.text.replace(request.text.find("z[i] ="), 6, "for (;;) z[i] =");
    }
    results.expect(id);
    evaluations->submit(request);
  }
  EXPECT_EQ(results.next()->fault, "cancelled");
  const EvaluationResult right = results.next().value();
  EXPECT_EQ(right.fault, "");
  EXPECT_EQ(right.evaluations.at(0).verdict, tasks::Verdict::Correct);
  EXPECT_EQ(right.evaluations.at(0).parameters.at("BLOCK"), 128);
  EXPECT_EQ(right.worker, "cpu " + devices.first().name);
  EXPECT_EQ(devices.statistics().judge_starts, 1);
}

} // namespace
} // namespace winnow::evaluators
