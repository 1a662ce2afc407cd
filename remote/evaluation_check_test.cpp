// Honest results come from the real evaluator on the CPU device. The others are forged from them.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/host/devices.h"
#include "evaluators/host/open_device.h"
#include "evaluators/timing/score_times.h"
#include "evaluators/timing/timed_case.h"
#include "remote/evaluation_check.h"
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
    rules_.pool.device_kind = machine_->device.kind;
    rules_.pool.device_name = machine_->device.name;
    rules_.facts = machine_->device.facts;
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
  static EvaluationRequest wrong() {
    return request_of(replaced(machine_->task->baseline, "+ y[i]", "- y[i]"));
  }
  static std::vector<Evaluation> judge(const EvaluationRequest& request) {
    return machine_->evaluator->evaluate(request);
  }
  /// Judged once for all tests.
  static const Evaluation& honest() {
    static const Evaluation evaluation = judge(correct()).front();
    return evaluation;
  }

  /// Why the coordinator refuses the result; empty: it counts.
  std::string refusal(const EvaluationRequest& request, std::vector<Evaluation> evaluations) {
    const std::string body =
        encode(EvaluationResult{request.id, "cpu", std::move(evaluations), {}});
    try {
      checked_result(request, rules_, {"w", body}, seen_);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  std::string refusal_of(const std::function<void(Evaluation&)>& forge) {
    Evaluation forged = honest();
    forge(forged);
    return refusal(correct(), {forged});
  }
  static tasks::CaseResult& timed_case(Evaluation& evaluation) {
    return *std::find_if(evaluation.cases.begin(), evaluation.cases.end(),
                         [](const auto& result) { return result.stage == Stage::Time; });
  }

  static std::unique_ptr<Machine> machine_;
  ResultRules rules_;
  SeenEvaluations seen_;
};

std::unique_ptr<EvaluationCheck::Machine> EvaluationCheck::machine_;

TEST_F(EvaluationCheck, KernelResultsCount) {
  ASSERT_EQ(honest().verdict, Verdict::Correct) << honest().detail;
  EXPECT_EQ(refusal(correct(), {honest()}), "");
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
  EXPECT_EQ(refusal(correct(Depth::Quick), judge(correct(Depth::Quick))), "");
  EXPECT_EQ(refusal(correct(Depth::HeldOut), judge(correct(Depth::HeldOut))), "");
}

TEST_F(EvaluationCheck, HonestRacesAndTrialsCount) {
  EvaluationRequest request = correct();
  request.incumbent = evaluators::KernelToBeat{machine_->task->baseline, {{"BLOCK", 256}}};
  const std::vector<Evaluation> raced = judge(request);
  ASSERT_TRUE(raced.front().race) << raced.front().detail;
  EXPECT_EQ(refusal(request, raced), "");
  std::vector<Evaluation> lost = raced;
  lost.front().race->verdict = "faster";
  lost.front().race->bounds.low = 1.1;
  EXPECT_THAT(refusal(request, lost), HasSubstr("a race against the incumbent"));
  request.depth = Depth::Trial;
  request.turns = 3;
  request.choices = {{{"BLOCK", 256}}, {{"BLOCK", 128}}};
  std::vector<Evaluation> trials = judge(request);
  EXPECT_EQ(refusal(request, trials), "");
  trials.back().score_ns /= 2;
  EXPECT_THAT(refusal(request, trials), HasSubstr("a score that does not follow"));
}

TEST_F(EvaluationCheck, TimesThatDoNotFollowFromTheSamplesAreRefused) {
  EXPECT_THAT(refusal_of([](Evaluation& forged) {
                for (double& ns : timed_case(forged).samples_ns) {
                  ns /= 2;
                }
              }),
              HasSubstr("the median at search/0 does not follow from the samples"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) {
                timed_case(forged).speedup_bounds = {1.9, 2.1};
              }),
              HasSubstr("the speedup at search/0 does not follow"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.speedup *= 1.001; }),
              HasSubstr("a speedup that does not follow"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.score_ns /= 2; }),
              HasSubstr("a score or a speedup that does not follow"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.hidden_speedup += 2; }),
              HasSubstr("a speedup on hidden shapes that does not follow"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged).samples_ns.pop_back(); }),
              HasSubstr("samples of the baseline at search/0"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged).samples_ns.assign(1000, 5); }),
              HasSubstr("1000 samples at search/0, but at most 200 are taken"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged).samples_ns[0] = -1; }),
              HasSubstr("that is no time"));
}

TEST_F(EvaluationCheck, ATimeThatNoDeviceReachesIsRefused) {
  EXPECT_THAT(refusal_of([](Evaluation& forged) {
                for (tasks::CaseResult& timed : forged.cases) {
                  for (auto* samples : {&timed.samples_ns, &timed.baseline_samples_ns}) {
                    for (double& ns : *samples) {
                      ns /= 1e6;
                    }
                  }
                  if (!timed.samples_ns.empty()) {
                    evaluators::summarise_samples(timed);
                  }
                }
                evaluators::score_times(forged, *machine_->task, {}, {}, "");
              }),
              HasSubstr("a time that no device reaches: search/0"));
}

TEST_F(EvaluationCheck, AVerdictThatItsCasesContradictIsRefused) {
  Evaluation forged = judge(wrong()).front();
  forged.verdict = Verdict::Correct;
  EXPECT_THAT(refusal(wrong(), {forged}), HasSubstr("the verdict 'correct', but its case at tiny"));
  for (tasks::CaseResult& result : forged.cases) {
    result.verdict = Verdict::Correct;
  }
  EXPECT_THAT(refusal(wrong(), {forged}), HasSubstr("cases, but its request needs"));
  EXPECT_THAT(refusal_of([](Evaluation& good) {
                good.verdict = Verdict::Wrong;
                good.stage = Stage::Search;
              }),
              HasSubstr("none of its cases failed"));
  EXPECT_THAT(refusal_of([](Evaluation& good) { good.verdict = Verdict::NotJudged; }),
              HasSubstr("although the request asks for one"));
}

TEST_F(EvaluationCheck, MissingShapesAndOtherSeedsAreRefused) {
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.cases.pop_back(); }),
              HasSubstr("cases, but its request needs"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.cases.erase(forged.cases.begin()); }),
              HasSubstr("in the place of 'tiny at tiny/0'"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.cases.clear(); }),
              HasSubstr("0 cases, but its request needs"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.seed += 1; }),
              HasSubstr("the seed of another evaluation"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { timed_case(forged) = {}; }),
              HasSubstr("nobody judged one of its cases"));
  EXPECT_THAT(refusal_of([](Evaluation& forged) { forged.parameters["BLOCK"] = 511; }),
              HasSubstr("an evaluation of other parameters"));
}

TEST_F(EvaluationCheck, AnEarlierResultSentAgainIsRefused) {
  EXPECT_EQ(refusal(correct(), {honest()}), "");
  EvaluationRequest other = request_of(machine_->task->baseline + "\n");
  EXPECT_THAT(refusal(other, {honest()}), HasSubstr("the seed of an earlier evaluation"));
  Evaluation renamed = honest(); // with fresh seeds, but the old samples
  // Noise decides whether a kernel as fast as the baseline is judged at hidden shapes, too.
  constexpr int kMostTries = 20;
  Evaluation fresh = judge(other).front();
  for (int i = 1; i < kMostTries && fresh.cases.size() != renamed.cases.size(); ++i) {
    fresh = judge(other).front();
  }
  ASSERT_EQ(fresh.cases.size(), renamed.cases.size());
  renamed.seed = fresh.seed;
  for (std::size_t i = 0; i < fresh.cases.size(); ++i) {
    renamed.cases[i].seed = fresh.cases[i].seed;
  }
  EXPECT_THAT(refusal(other, {renamed}), HasSubstr("the samples of an earlier evaluation"));
  EXPECT_EQ(refusal(other, {fresh}), "");
}

} // namespace
} // namespace winnow::remote
