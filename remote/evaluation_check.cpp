#include "remote/evaluation_check.h"

#include "base/digest.h"
#include "evaluators/timing/hidden_speed.h"
#include "evaluators/timing/score_times.h"
#include "evaluators/timing/timed_case.h"
#include "remote/expected_cases.h"
#include "tasks/task/speedup_versus.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::Depth;
using evaluators::EvaluationRequest;
using tasks::CaseResult;
using tasks::Evaluation;
using tasks::Stage;
using tasks::Verdict;

/// Two machines may round the last digits of a logarithm differently.
constexpr double kRounding = 1e-6;
/// A device may measure a higher rate than its driver reports, and then its worker has a lower
/// physical floor than the coordinator, which knows the reported rate only.
constexpr double kOverReportedRate = 1.1;
/// Below so many samples, or so few different ones, a repetition may be chance.
constexpr std::size_t kTellingSamples = 12;
constexpr std::size_t kTellingValues = 8;

bool is_close(double a, double b) {
  return a == b || std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

bool is_close(const tasks::Bounds& a, const tasks::Bounds& b) {
  return is_close(a.low, b.low) && is_close(a.high, b.high);
}

bool is_close(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || is_close(*a, *b));
}

bool is_close(const std::optional<tasks::RaceResult>& a,
              const std::optional<tasks::RaceResult>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->rival == b->rival && a->verdict == b->verdict && a->blocks == b->blocks &&
                 is_close(a->ratio, b->ratio) && is_close(a->bounds, b->bounds)));
}

bool are_times(const std::vector<double>& samples) {
  return std::all_of(samples.begin(), samples.end(),
                     [](double ns) { return std::isfinite(ns) && ns >= 0; });
}

bool has_samples(const CaseResult& result) {
  return !result.samples_ns.empty() || !result.baseline_samples_ns.empty() ||
         !result.incumbent_samples_ns.empty() || !result.warm_samples_ns.empty();
}

std::string fault_of_samples(const EvaluationRequest& request, const CaseResult& timed) {
  const bool is_trial = request.depth == Depth::Trial;
  const std::size_t own = timed.samples_ns.size();
  const auto most =
      static_cast<std::size_t>(is_trial ? request.turns : request.protocol.max_samples);
  if (own > most) {
    return fmt::format("{} samples at {}, but at most {} are taken", own, timed.shape_id, most);
  }
  if (!are_times(timed.samples_ns) || !are_times(timed.baseline_samples_ns) ||
      !are_times(timed.incumbent_samples_ns) || !are_times(timed.warm_samples_ns)) {
    return "a sample at " + timed.shape_id + " that is no time";
  }
  const std::size_t baseline = timed.baseline_samples_ns.size();
  const bool by_turns = !request.task->baseline.empty(); // else PyTorch's own times
  if (!is_trial && (baseline == 0 || (by_turns && baseline != own))) {
    return fmt::format("{} samples of the baseline at {} for {} of the kernel", baseline,
                       timed.shape_id, own);
  }
  const std::size_t incumbent = timed.incumbent_samples_ns.size();
  if (incumbent > 0 && !request.incumbent) {
    return "samples of an incumbent at " + timed.shape_id + ", but there is none";
  }
  if (!is_trial && incumbent > 0 && incumbent != own) {
    return fmt::format("{} samples of the incumbent at {} for {} of the kernel", incumbent,
                       timed.shape_id, own);
  }
  return {};
}

std::string difference_of_times(const EvaluationRequest& request, const CaseResult& timed) {
  CaseResult again = timed;
  if (request.depth == Depth::Trial) {
    again.median_ns = tasks::median(timed.samples_ns);
  } else {
    evaluators::summarise_times(again);
    if (request.task->baseline.empty()) {
      evaluators::compare_medians(again);
    }
  }
  const auto differs = [&timed](const std::string& what) {
    return what + " at " + timed.shape_id + " does not follow from the samples";
  };
  if (!is_close(again.median_ns, timed.median_ns) ||
      !is_close(again.baseline_median_ns, timed.baseline_median_ns) ||
      !is_close(again.median_bounds_ns, timed.median_bounds_ns)) {
    return differs("the median");
  }
  if (!is_close(again.speedup, timed.speedup) ||
      !is_close(again.speedup_bounds, timed.speedup_bounds)) {
    return differs("the speedup");
  }
  return {};
}

std::string fault_of_times(const EvaluationRequest& request, const Evaluation& evaluation) {
  for (const CaseResult& timed : evaluation.cases) {
    if (!has_samples(timed)) {
      if (timed.median_ns != 0 || timed.speedup != 0 || timed.baseline_median_ns != 0) {
        return "a time at " + timed.shape_id + " without samples";
      }
      continue;
    }
    std::string fault = fault_of_samples(request, timed);
    fault = fault.empty() ? difference_of_times(request, timed) : fault;
    if (!fault.empty()) {
      return fault;
    }
  }
  return {};
}

std::string missing_samples(const Evaluation& evaluation,
                            const std::vector<ExpectedCase>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const CaseResult& result = evaluation.cases[i];
    if (expected[i].timed == result.samples_ns.empty()) {
      return (expected[i].timed ? "no samples at " : "samples of an untimed run at ") +
             result.shape_id;
    }
  }
  return {};
}

tasks::DeviceFacts with_higher_rates(tasks::DeviceFacts facts) {
  facts.clock_mhz *= kOverReportedRate;
  facts.peak_bytes_per_second *= kOverReportedRate;
  return facts;
}

std::string difference_of_scores(const EvaluationRequest& request, const tasks::DeviceFacts& facts,
                                 const Evaluation& evaluation) {
  Evaluation again = evaluation;
  again.score_ns = again.speedup = 0;
  again.speedup_bounds = {};
  again.race.reset();
  const std::string rival =
      request.incumbent ? evaluators::digest_of(*request.incumbent) : std::string();
  const std::string implausible =
      evaluators::score_times(again, *request.task, with_higher_rates(facts), std::nullopt, rival);
  if (!implausible.empty()) {
    return "a time that no device reaches: " + implausible;
  }
  if (!is_close(again.score_ns, evaluation.score_ns) ||
      !is_close(again.speedup, evaluation.speedup) ||
      !is_close(again.speedup_bounds, evaluation.speedup_bounds)) {
    return "a score or a speedup that does not follow from its times";
  }
  return is_close(again.race, evaluation.race)
             ? ""
             : "a race against the incumbent that does not follow from its times";
}

std::string difference_on_hidden_shapes(const EvaluationRequest& request,
                                        const Evaluation& evaluation) {
  Evaluation again = evaluation;
  const auto first =
      std::find_if(evaluation.cases.begin(), evaluation.cases.end(), [](const CaseResult& result) {
        return result.stage == Stage::Promotion && !result.samples_ns.empty();
      });
  again.hidden_speedup = again.hidden_race_ratio = 0;
  if (first != evaluation.cases.end()) {
    evaluators::score_hidden(again, static_cast<std::size_t>(first - evaluation.cases.begin()),
                             tasks::speedup_versus(request.task->baseline));
  }
  const bool same = is_close(again.hidden_speedup, evaluation.hidden_speedup) &&
                    is_close(again.hidden_race_ratio, evaluation.hidden_race_ratio);
  return same ? "" : "a speedup on hidden shapes that does not follow from its times";
}

std::string fault_of_scores(const EvaluationRequest& request, const tasks::DeviceFacts& facts,
                            const Evaluation& evaluation) {
  if (request.depth == Depth::Trial) {
    std::vector<double> medians;
    for (const CaseResult& timed : evaluation.cases) {
      medians.push_back(timed.median_ns);
    }
    return is_close(tasks::geometric_mean(medians), evaluation.score_ns)
               ? ""
               : "a score that does not follow from its times";
  }
  const bool is_timed =
      request.depth != Depth::HeldOut && request.protocol.timing &&
      (passed_every_stage(request, evaluation) || evaluation.verdict == Verdict::WrongUnseen);
  std::string fault;
  if (is_timed) {
    fault = difference_of_scores(request, facts, evaluation);
  } else if (evaluation.score_ns != 0 || evaluation.speedup != 0 || evaluation.race) {
    fault = "a score, although its verdict has none";
  }
  const bool has_all = evaluation.verdict == Verdict::Correct;
  return fault.empty() && has_all ? difference_on_hidden_shapes(request, evaluation) : fault;
}

std::string fault_of_verdict(const EvaluationRequest& request, const Evaluation& evaluation) {
  const bool passed = passed_every_stage(request, evaluation);
  const auto failed =
      std::find_if(evaluation.cases.begin(), evaluation.cases.end(), [](const CaseResult& result) {
        return result.verdict != Verdict::Correct && result.verdict != Verdict::NotJudged;
      });
  const bool has_failure = failed != evaluation.cases.end();
  const auto says = [&](const std::string& what) {
    return fmt::format("the verdict '{}'{}", to_string(evaluation.verdict), what);
  };
  const bool is_correct = evaluation.verdict == Verdict::Correct;
  if (is_correct && !passed) {
    return says(", which this request cannot have");
  }
  if (evaluation.verdict == Verdict::NotJudged && !passed) {
    return says(", although the request asks for one");
  }
  if (passed && has_failure) {
    return says(", but its case at " + failed->shape_id + " failed");
  }
  const bool all_judged =
      std::all_of(evaluation.cases.begin(), evaluation.cases.end(),
                  [](const CaseResult& result) { return result.verdict == Verdict::Correct; });
  if (passed && request.depth != Depth::Trial && !all_judged) {
    return says(", but nobody judged one of its cases");
  }
  const bool needs_failure = evaluation.verdict == Verdict::Wrong &&
                             (evaluation.stage == Stage::Tiny || evaluation.stage == Stage::Search);
  return needs_failure && !has_failure ? says(", but none of its cases failed") : "";
}

std::vector<double> all_samples(const Evaluation& evaluation) {
  std::vector<double> samples;
  for (const CaseResult& timed : evaluation.cases) {
    for (const auto* series :
         {&timed.samples_ns, &timed.baseline_samples_ns, &timed.incumbent_samples_ns}) {
      samples.insert(samples.end(), series->begin(), series->end());
    }
  }
  return samples;
}

/// nullopt: too few samples to tell.
std::optional<std::uint64_t> digest_of_samples(const Evaluation& evaluation) {
  const std::vector<double> samples = all_samples(evaluation);
  const std::set<double> values(samples.begin(), samples.end());
  if (samples.size() < kTellingSamples || values.size() < kTellingValues) {
    return std::nullopt;
  }
  return derived_seed(0, {reinterpret_cast<const char*>(samples.data()), // NOLINT: its bytes
                          samples.size() * sizeof(double)});
}

} // namespace

std::string contradiction_in(const EvaluationRequest& request, const tasks::DeviceFacts& facts,
                             const Evaluation& evaluation) {
  std::string fault = fault_of_verdict(request, evaluation);
  const std::vector<ExpectedCase> expected = expected_cases(request, evaluation);
  if (fault.empty()) {
    fault = difference_of_cases(request, evaluation, expected);
  }
  if (fault.empty() && passed_every_stage(request, evaluation)) {
    fault = missing_samples(evaluation, expected);
  }
  if (fault.empty()) {
    fault = fault_of_times(request, evaluation);
  }
  return fault.empty() ? fault_of_scores(request, facts, evaluation) : fault;
}

std::string SeenEvaluations::add_or_repetition(const EvaluationRequest& request,
                                               const std::vector<Evaluation>& evaluations) {
  const bool has_seeds = request.depth != Depth::Trial;
  std::vector<std::uint64_t> seeds, samples;
  for (const Evaluation& evaluation : evaluations) {
    if (has_seeds && !evaluation.cases.empty()) {
      seeds.push_back(evaluation.seed);
    }
    if (const auto digest = digest_of_samples(evaluation)) {
      samples.push_back(*digest);
    }
  }
  const std::lock_guard lock(mutex_);
  const auto is_known = [](const auto& known, const auto& all) {
    return std::any_of(all.begin(), all.end(), [&](auto one) { return known.contains(one); });
  };
  if (!request.protocol.seed && is_known(seeds_, seeds)) {
    return "the seed of an earlier evaluation";
  }
  if (is_known(samples_, samples)) {
    return "the samples of an earlier evaluation";
  }
  seeds_.insert(seeds.begin(), seeds.end());
  samples_.insert(samples.begin(), samples.end());
  return {};
}

} // namespace winnow::remote
