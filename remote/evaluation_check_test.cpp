// Good results come from the real evaluator on the CPU device. The others are forged from them.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/host/devices.h"
#include "evaluators/host/open_device.h"
#include "remote/result_check.h"
#include "tasks/parse/task_parse.h"

#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::Depth;
using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using tasks::Evaluation;
using tasks::Stage;
using tasks::Verdict;
using testing::HasSubstr;

const std::string kIf = "if (i < n) {";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Judges on the CPU device of this machine; the device serves all tests.
class EvaluationCheck : public testing::Test {
protected:
  struct Machine {
    TemporaryDirectory cache{"evaluation-check-test"};
    evaluators::EvaluationOptions options;
    evaluators::DeviceReport device;
    std::shared_ptr<const tasks::Task> task;
    std::unique_ptr<evaluators::Evaluator> evaluator;
  };

  static void SetUpTestSuite() {
    machine_ = std::make_unique<Machine>();
    Machine& machine = *machine_;
    machine.options.cache = machine.cache.path();
    machine.options.device = "cpu";
    machine.options.time_budget = std::chrono::milliseconds(80);
    machine.options.reuse = false;
    machine.task = std::make_shared<const tasks::Task>(
        tasks::load_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue/blas/axpy"));
    try {
      machine.device = evaluators::select_device("cpu");
      machine.evaluator = std::make_unique<evaluators::Evaluator>(
          *machine.task,
          evaluators::open_device(machine.device, machine.options, machine.options.run_timeout),
          machine.options);
    } catch (const DeviceUnavailable&) {
      machine.evaluator.reset();
    }
  }
  static void TearDownTestSuite() { machine_.reset(); }

  void SetUp() override {
    if (!machine_->evaluator) {
      GTEST_SKIP() << "no compiler for the CPU device";
    }
    pool_.device_kind = machine_->device.kind;
    pool_.device_name = machine_->device.name;
  }

  static EvaluationRequest request_of(const std::string& text, Depth depth = Depth::Full) {
    EvaluationRequest request;
    request.task = machine_->task;
    request.text = text;
    request.file_name = "kernel.cu";
    request.depth = depth;
    request.protocol = machine_->options;
    request.id = evaluators::request_id(request, 1);
    return request;
  }
  static EvaluationRequest correct(Depth depth = Depth::Full) {
    return request_of(machine_->task->baseline, depth);
  }
  /// Far off at every element: another sign of a small `y[i]` would be `low_precision`.
  static EvaluationRequest wrong() {
    return request_of(replaced(machine_->task->baseline, "+ y[i]", "+ 1000.0f"));
  }
  static std::vector<Evaluation> judge(const EvaluationRequest& request) {
    return machine_->evaluator->evaluate(request);
  }
  /// Judged once for all tests.
  static const Evaluation& good() {
    static const Evaluation evaluation = judge(correct()).front();
    return evaluation;
  }

  /// Why the coordinator refuses the result; empty: it counts.
  std::string refusal(const EvaluationRequest& request, std::vector<Evaluation> evaluations) {
    const std::string body =
        encode(EvaluationResult{request.id, "cpu", std::move(evaluations), {}});
    try {
      checked_result(request, pool_, {"w", body});
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  std::string refusal_of(const std::function<void(Evaluation&)>& forge) {
    Evaluation forged = good();
    forge(forged);
    return refusal(correct(), {forged});
  }
  static tasks::CaseResult& timed_case(Evaluation& evaluation) {
    return *std::find_if(evaluation.cases.begin(), evaluation.cases.end(),
                         [](const auto& result) { return result.stage == Stage::Time; });
  }

  static std::unique_ptr<Machine> machine_;
  PoolRules pool_;
};

std::unique_ptr<EvaluationCheck::Machine> EvaluationCheck::machine_;

TEST_F(EvaluationCheck, KernelResultsCount) {
  ASSERT_EQ(good().verdict, Verdict::Correct) << good().detail;
  EXPECT_EQ(refusal(correct(), {good()}), "");
  const std::vector<Evaluation> failed = judge(wrong());
  ASSERT_EQ(failed.front().verdict, Verdict::Wrong) << failed.front().detail;
  EXPECT_EQ(refusal(wrong(), failed), "");
  for (const std::string& text :
       {std::string("no kernel"), replaced(machine_->task->baseline, kIf, "if (i < n) { ("),
        replaced(machine_->task->baseline, kIf, "if (i < n - 1) {"),
        replaced(machine_->task->baseline, kIf, "if (i < n + 1) {"),
        replaced(machine_->task->baseline, kIf, "if (i == 777777) { z[i] = 0; } if (i < n) {"),
        replaced(machine_->task->baseline, kIf, "while (n > 100000) {} if (i < n) {")}) {
    EvaluationRequest request = request_of(text);
    const std::vector<Evaluation> evaluations = judge(request);
    EXPECT_EQ(refusal(request, evaluations), "") << to_string(evaluations.front().verdict);
  }
  for (const Depth depth : {Depth::Quick, Depth::HeldOut, Depth::Compile}) {
    EXPECT_EQ(refusal(correct(depth), judge(correct(depth))), "") << to_string(depth);
  }
}

TEST_F(EvaluationCheck, RacesAndTrialsCount) {
  EvaluationRequest request = correct();
  request.incumbent = evaluators::KernelToBeat{machine_->task->baseline, {{"BLOCK", 256}}};
  const std::vector<Evaluation> raced = judge(request);
  ASSERT_TRUE(raced.front().race) << raced.front().detail;
  EXPECT_EQ(refusal(request, raced), "");
  request.depth = Depth::Trial;
  request.turns = 3;
  request.choices = {{{"BLOCK", 256}}, {{"BLOCK", 128}}};
  EXPECT_EQ(refusal(request, judge(request)), "");
}

TEST_F(EvaluationCheck, AVerdictThatItsCasesContradictIsRefused) {
  Evaluation forged = judge(wrong()).front();
  forged.verdict = Verdict::Correct;
  EXPECT_THAT(refusal(wrong(), {forged}),
              HasSubstr("the verdict 'correct', but 'wrong' at tiny/0"));
  for (tasks::CaseResult& result : forged.cases) {
    result.verdict = Verdict::Correct;
  }
  EXPECT_THAT(refusal(wrong(), {forged}), HasSubstr("no result of the stage 'search' at search/0"));
  EXPECT_THAT(refusal_of([](Evaluation& one) { one.verdict = Verdict::NotJudged; }),
              HasSubstr("the verdict 'not_judged', which this request cannot have"));
}

TEST_F(EvaluationCheck, AnotherFormThanTheRequestNeedsIsRefused) {
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.build.architecture = "sm_90; touch x"; }),
              HasSubstr("a build for an architecture of another form"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.cases.clear(); }),
              HasSubstr("no result of the stage 'tiny' at tiny/0"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) {
                std::erase_if(forged.cases,
                              [](const auto& result) { return result.stage == Stage::Promotion; });
              }),
              HasSubstr("no result of the stage 'promotion'"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged).samples_ns.clear(); }),
              HasSubstr("no result of the stage 'time' at search/0"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged).shape_id = "search/99"; }),
              HasSubstr("a result at search/99, which is no shape of the task"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged).samples_ns[0] = -1; }),
              HasSubstr("a time at search/0 that is no time"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.speedup = -2; }),
              HasSubstr("a speedup that is no number"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.parameters["BLOCK"] = 511; }),
              HasSubstr("an evaluation of other parameters"));
}

} // namespace
} // namespace winnow::remote
