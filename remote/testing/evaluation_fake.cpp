#include "remote/testing/evaluation_fake.h"

#include "base/random_bits.h"
#include "evaluators/timing/hidden_speed.h"
#include "evaluators/timing/timed_case.h"
#include "remote/testing/pool_fake.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/task/baseline.h"

#include <cmath>
#include <random>

namespace winnow::remote::test {
namespace {

using evaluators::Depth;
using evaluators::EvaluationRequest;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

constexpr double kBaselineNs = 1e6;
constexpr int kSamples = 20;

/// The three kernels of a turn share half of their noise.
void draw_times(const EvaluationRequest& request, const SimulatedKernel& kernel,
                tasks::CaseResult& timed) {
  std::mt19937_64 random(random_bits());
  std::normal_distribution<double> normal(0, kernel.noise);
  const bool is_trial = request.depth == Depth::Trial;
  const int turns = is_trial ? request.turns : kSamples;
  for (int turn = 0; turn < turns; ++turn) {
    const double shared = normal(random);
    timed.samples_ns.push_back(kBaselineNs / kernel.speedup * std::exp(shared + normal(random)));
    if (!is_trial) {
      timed.baseline_samples_ns.push_back(kBaselineNs * std::exp(shared + normal(random)));
    }
    if (request.incumbent && request.depth != Depth::Quick) {
      timed.incumbent_samples_ns.push_back(kBaselineNs / kernel.incumbent_speedup *
                                           std::exp(shared + normal(random)));
    }
  }
  if (is_trial) {
    timed.median_ns = tasks::median(timed.samples_ns);
  } else {
    evaluators::summarise_samples(timed);
  }
}

/// A case for each shape of the set.
void add_cases(const EvaluationRequest& request, const SimulatedKernel& kernel, Stage stage,
               ShapeSet set, bool timed, tasks::Evaluation& evaluation) {
  for (const tasks::Shape& shape : request.task->shapes_of(set, evaluation.device)) {
    tasks::CaseResult& result = evaluation.cases.emplace_back();
    result.stage = stage;
    result.shape_id = shape.id;
    result.set = set;
    result.shape = to_string(shape);
    result.seed = random_bits();
    result.verdict = request.depth == Depth::Trial ? Verdict::NotJudged : Verdict::Correct;
    if (timed) {
      draw_times(request, kernel, result);
    }
  }
}

void add_shown_cases(const EvaluationRequest& request, const SimulatedKernel& kernel,
                     tasks::Evaluation& evaluation) {
  if (request.depth == Depth::HeldOut) {
    add_cases(request, kernel, Stage::HeldOut, ShapeSet::HeldOut, false, evaluation);
    return;
  }
  if (request.depth != Depth::Trial) {
    add_cases(request, kernel, Stage::Tiny, ShapeSet::Tiny, false, evaluation);
    add_cases(request, kernel, Stage::Search, ShapeSet::Search, false, evaluation);
  }
  if (request.depth == Depth::Trial || request.protocol.timing) {
    add_cases(request, kernel, Stage::Time, ShapeSet::Search, true, evaluation);
  }
}

/// Those of kernels that are faster than the baseline are timed.
void add_hidden_cases(const EvaluationRequest& request, const SimulatedKernel& kernel,
                      tasks::Evaluation& evaluation) {
  if (request.depth != Depth::Full || !request.protocol.promotion) {
    return;
  }
  add_cases(request, kernel, Stage::Promotion, ShapeSet::Promotion, false, evaluation);
  const std::size_t first = evaluation.cases.size();
  if (request.protocol.timing && evaluation.speedup > 1) {
    add_cases(request, kernel, Stage::Promotion, ShapeSet::Promotion, true, evaluation);
    evaluators::score_hidden(evaluation, first, tasks::speedup_versus(*request.task));
  }
}

void fail(Verdict verdict, tasks::Evaluation& evaluation) {
  evaluation.cases.resize(1);
  evaluation.cases.front().verdict = verdict;
  evaluation.verdict = verdict;
  evaluation.stage = tasks::Stage::Tiny;
}

void score(const EvaluationRequest& request, const SimulatedKernel& kernel,
           tasks::Evaluation& evaluation) {
  evaluators::score_times(evaluation, *request.task, {}, std::nullopt,
                          request.incumbent ? evaluators::digest_of(*request.incumbent) : "");
  add_hidden_cases(request, kernel, evaluation);
}

} // namespace

tasks::Evaluation simulated_evaluation(const EvaluationRequest& request,
                                       const SimulatedKernel& kernel) {
  const bool judges = request.depth == Depth::Full || request.depth == Depth::HeldOut;
  tasks::Evaluation evaluation = evaluation_of_pool(judges ? Verdict::Correct : Verdict::NotJudged);
  evaluation.seed = request.protocol.seed.value_or(random_bits());
  evaluation.stage = tasks::Stage::Done;
  const auto parsed = tasks::parse_kernel_file(request.text, request.file_name);
  evaluation.parameters = !request.choices.empty() ? request.choices.front()
                          : parsed.kernel_file
                              ? tasks::parameter_choices(parsed.kernel_file->plan, 1).front()
                              : tasks::ParameterChoice{};
  add_shown_cases(request, kernel, evaluation);
  if (kernel.verdict != Verdict::Correct) {
    fail(kernel.verdict, evaluation);
  } else if (request.depth == Depth::Trial) {
    std::vector<double> medians;
    for (const tasks::CaseResult& timed : evaluation.cases) {
      medians.push_back(timed.median_ns);
    }
    evaluation.score_ns = tasks::geometric_mean(medians);
  } else if (request.depth != Depth::HeldOut) {
    score(request, kernel, evaluation);
  }
  return evaluation;
}

} // namespace winnow::remote::test
