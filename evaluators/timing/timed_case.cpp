#include "evaluators/timing/timed_case.h"

#include "evaluators/timing/race_blocks.h"
#include "profiling/statistics/race.h"
#include "profiling/statistics/summary.h"
#include "tasks/result/speedup.h"

#include <cmath>

namespace winnow::evaluators {
namespace {

using tasks::Bounds;
using tasks::CaseResult;

Bounds bounds_of(const std::optional<profiling::Interval>& interval) {
  return interval ? Bounds{interval->low, interval->high} : Bounds{};
}

tasks::TimingConditions conditions_of(const RunCaseReport& report) {
  tasks::TimingConditions conditions;
  conditions.warm_ups = report.warm_ups;
  conditions.discarded = report.discarded;
  conditions.stopped_by = report.stopped_by;
  conditions.median_clock_mhz = tasks::median(report.clocks_mhz);
  conditions.memory_clock_mhz = report.state.memory_clock_mhz.value_or(0);
  conditions.temperature_c = report.state.temperature_c.value_or(0);
  conditions.power_w = report.state.power_w.value_or(0);
  conditions.throttle_reasons = profiling::transient_throttling(report.state);
  return conditions;
}

} // namespace

void take_samples(const RunCaseReport& report, CaseResult& timed) {
  timed.samples_ns = report.samples_ns;
  timed.baseline_samples_ns = report.rival_samples_ns.at(0);
  if (report.rival_samples_ns.size() > 1) {
    timed.incumbent_samples_ns = report.rival_samples_ns[1];
  }
  timed.warm_samples_ns = report.warm_samples_ns;
  timed.prepare_ns = report.prepare_ns;
  timed.conditions = conditions_of(report);
  summarise_samples(timed);
}

void summarise_samples(CaseResult& timed) {
  timed.conditions.outliers = static_cast<int>(profiling::outliers(timed.samples_ns));
  const auto drift = profiling::drift(timed.samples_ns);
  timed.conditions.drift = drift && drift->significant ? drift->relative_change : 0;
  timed.conditions.bimodal = profiling::is_bimodal(timed.samples_ns);
  summarise_times(timed);
}

void summarise_times(CaseResult& timed) {
  timed.median_ns = tasks::median(timed.samples_ns);
  timed.baseline_median_ns = tasks::median(timed.baseline_samples_ns);
  timed.median_bounds_ns = bounds_of(profiling::bootstrap_median_interval(timed.samples_ns));
  timed.speedup = profiling::paired_ratio(timed.baseline_samples_ns, timed.samples_ns).value_or(0);
  timed.speedup_bounds =
      bounds_of(profiling::paired_ratio_interval(timed.baseline_samples_ns, timed.samples_ns));
}

void compare_medians(CaseResult& timed) {
  timed.speedup = timed.median_ns > 0 ? timed.baseline_median_ns / timed.median_ns : 0;
  const Bounds baseline =
      bounds_of(profiling::bootstrap_median_interval(timed.baseline_samples_ns));
  const Bounds& own = timed.median_bounds_ns;
  timed.speedup_bounds = {};
  if (baseline.known() && own.known() && baseline.low > 0 && own.low > 0) {
    const double below = std::hypot(std::log(timed.baseline_median_ns / baseline.low),
                                    std::log(own.high / timed.median_ns));
    const double above = std::hypot(std::log(baseline.high / timed.baseline_median_ns),
                                    std::log(timed.median_ns / own.low));
    timed.speedup_bounds = {timed.speedup * std::exp(-below), timed.speedup * std::exp(above)};
  }
}

Bounds bounds_of_speedup(const std::vector<CaseResult>& cases, tasks::Stage stage) {
  std::vector<tasks::Speedup> speedups;
  for (const CaseResult& timed : cases) {
    if (timed.stage == stage && !timed.samples_ns.empty()) {
      speedups.push_back({timed.speedup, timed.speedup_bounds});
    }
  }
  return tasks::mean_speedup(speedups).bounds;
}

std::optional<tasks::RaceResult> race_of(const std::vector<CaseResult>& cases,
                                         const std::string& rival) {
  std::vector<const CaseResult*> raced;
  bool is_of_all = true;
  for (const CaseResult& timed : cases) {
    if (timed.stage == tasks::Stage::Time && !timed.incumbent_samples_ns.empty()) {
      raced.push_back(&timed);
    } else if (timed.stage == tasks::Stage::Time && !timed.samples_ns.empty()) {
      is_of_all = false;
    }
  }
  if (raced.empty()) {
    return std::nullopt;
  }
  profiling::Race race(kRaceRules, raced.size());
  for (std::size_t shape = 0; shape < raced.size(); ++shape) {
    const std::vector<double>& own = raced[shape]->samples_ns;
    for (std::size_t block = 0; block < block_count(own); ++block) {
      race.add(block_ns(own, block), block_ns(raced[shape]->incumbent_samples_ns, block), shape);
    }
  }
  return tasks::RaceResult{rival,
                           std::string(to_string(race.verdict())),
                           is_of_all ? race.ratio() : std::nullopt,
                           {race.interval().low, race.interval().high},
                           static_cast<int>(race.blocks())};
}

std::optional<tasks::RaceResult> race_at(const CaseResult& timed, const std::string& rival) {
  return race_of({timed}, rival);
}

} // namespace winnow::evaluators
