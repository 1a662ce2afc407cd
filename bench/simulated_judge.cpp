#include "bench/simulated_judge.h"

#include "base/digest.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/evaluator.h"
#include "remote/testing/evaluation_fake.h"

#include <cmath>
#include <functional>
#include <random>
#include <string_view>

namespace winnow::bench {
namespace {

constexpr double kWrongShare = 0.1, kOutOfBoundsShare = 0.1;
constexpr double kMedianSpeedup = 1.2, kSpread = 0.2; // standard deviation of the logarithm

remote::test::SimulatedKernel kernel_in(std::string_view text) {
  remote::test::SimulatedKernel kernel;
  kernel.speedup = 1;
  const auto mark = text.rfind(kMadeUp);
  if (mark == std::string_view::npos) {
    return kernel;
  }
  std::mt19937_64 random(std::hash<std::string_view>()(text.substr(mark)));
  const double lot = std::uniform_real_distribution<double>(0, 1)(random);
  if (lot < kWrongShare) {
    kernel.verdict = tasks::Verdict::Wrong;
  } else if (lot < kWrongShare + kOutOfBoundsShare) {
    kernel.verdict = tasks::Verdict::OutOfBounds;
  }
  kernel.speedup = kMedianSpeedup * std::exp(std::normal_distribution<double>(0, kSpread)(random));
  return kernel;
}

/// As the CPU device reports one.
void add_build(std::string_view text, tasks::Evaluation& evaluation) {
  evaluation.build.digest = evaluation.build.machine_code_digest = sha256_hex(text);
  evaluation.build.compiler = "clang++ 14.0.6";
  evaluation.build.seconds = 0.1;
  evaluation.build.features = {"1 kernel"};
}

void scale(tasks::Bounds& bounds, double factor) {
  bounds = {bounds.low * factor, bounds.high * factor};
}

/// The kernel takes `faster` times less time.
void scale_times(tasks::Evaluation& evaluation, double faster) {
  for (tasks::CaseResult& timed : evaluation.cases) {
    for (double& ns : timed.samples_ns) {
      ns /= faster;
    }
    timed.median_ns /= faster;
    scale(timed.median_bounds_ns, 1 / faster);
    timed.speedup *= faster;
    scale(timed.speedup_bounds, faster);
  }
  evaluation.score_ns /= faster;
  evaluation.speedup *= faster;
  scale(evaluation.speedup_bounds, faster);
  evaluation.hidden_speedup *= faster;
}

/// A race whose ratio is `ratio` times as high.
void scale_race(tasks::RaceResult& race, double ratio) {
  race.ratio *= ratio;
  scale(race.bounds, ratio);
  race.verdict = race.bounds.low > 1 ? "faster" : race.bounds.high < 1 ? "slower" : "tie";
}

} // namespace

std::chrono::milliseconds draw_time(int least_ms, int most_ms) {
  std::mt19937_64 random(random_bits());
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(least_ms, most_ms)(random));
}

tasks::Evaluation simulated_verdict(const evaluators::EvaluationRequest& request,
                                    double device_seconds) {
  remote::test::SimulatedKernel kernel = kernel_in(request.text);
  if (request.incumbent) {
    kernel.incumbent_speedup = kernel_in(request.incumbent->text).speedup;
  }
  tasks::Evaluation evaluation = remote::test::simulated_evaluation(request, kernel);
  evaluation.seconds = device_seconds;
  add_build(request.text, evaluation);
  return evaluation;
}

tasks::Evaluation ScaledVerdicts::of(const evaluators::EvaluationRequest& request,
                                     double device_seconds) {
  const remote::test::SimulatedKernel kernel = kernel_in(request.text);
  tasks::Evaluation& pattern =
      patterns_[request.task->name + std::string(to_string(kernel.verdict)) +
                (request.incumbent ? " with incumbent" : "")];
  if (pattern.cases.empty()) {
    pattern = remote::test::simulated_evaluation(request, {.verdict = kernel.verdict});
  }
  tasks::Evaluation evaluation = pattern;
  evaluation.seed = random_bits();
  evaluation.seconds = device_seconds;
  add_build(request.text, evaluation);
  if (kernel.verdict == tasks::Verdict::Correct) {
    const double faster = kernel.speedup / remote::test::SimulatedKernel().speedup;
    scale_times(evaluation, faster);
    if (evaluation.race) {
      scale_race(*evaluation.race, faster / kernel_in(request.incumbent->text).speedup);
      evaluation.race->rival = evaluators::digest_of(*request.incumbent);
    }
  }
  return evaluation;
}

} // namespace winnow::bench
