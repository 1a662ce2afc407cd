#include "evaluators/timing/incumbent_speed.h"

#include "evaluators/timing/race_blocks.h"
#include "profiling/statistics/change_point.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Bounds;
using tasks::CaseResult;

/// What is tolerated on one kind of device, as factors.
struct Tolerance {
  double repeats = 1;    ///< two evaluations of a kernel differ by this beyond their intervals
  double most_noise = 1; ///< noise of the turns that counts: a challenger may make its own
  double change = 1;     ///< a smaller change within a series does not decide a race
};
constexpr Tolerance kOnGpu{1.02, 1.1, 1.05}, kOnCpu{1.1, 1.5, 1.25};
constexpr double kChangeByChance = 1e-3; // per series
/// An evaluation or a race of too few blocks has no interval. Medians of a few launches beside
/// other processes have differed by 2.2.
constexpr double kWithoutInterval = 4;

std::vector<double> speeds_of_incumbent(const CaseResult& timed) {
  std::vector<double> speeds;
  for (std::size_t i = 0; i < timed.incumbent_samples_ns.size(); ++i) {
    if (timed.incumbent_samples_ns[i] > 0 && timed.baseline_samples_ns[i] > 0) {
      speeds.push_back(timed.baseline_samples_ns[i] / timed.incumbent_samples_ns[i]);
    }
  }
  return speeds;
}

bool has_samples_of_all(const CaseResult& timed) {
  const std::size_t count = timed.samples_ns.size();
  return timed.stage == tasks::Stage::Time && count > 0 &&
         timed.baseline_samples_ns.size() == count && timed.incumbent_samples_ns.size() == count;
}

/// The race of one of the kernels against the baseline.
profiling::Race against_baseline(const std::vector<const CaseResult*>& timed,
                                 std::vector<double> CaseResult::*samples) {
  profiling::Race race(kRaceRules, timed.size());
  for (std::size_t shape = 0; shape < timed.size(); ++shape) {
    for (std::size_t block = 0; block < block_count(timed[shape]->samples_ns); ++block) {
      race.add(block_ns(timed[shape]->*samples, block),
               block_ns(timed[shape]->baseline_samples_ns, block), shape);
    }
  }
  return race;
}

std::string why_changed(const CaseResult& timed, const std::vector<double>& speeds,
                        double tolerated) {
  const profiling::ChangePoint change = profiling::change_point(speeds);
  const bool is_large = std::abs(std::log(change.after / change.before)) > std::log(tolerated);
  return change.p_value < kChangeByChance && is_large
             ? fmt::format("{}: its speed over the baseline changed from {:.3g}x to {:.3g}x in the "
                           "middle of the race",
                           timed.shape_id, change.before, change.after)
             : std::string();
}

} // namespace

std::string why_not_reproduced(const std::vector<CaseResult>& timed, const EarnedSpeed& earned,
                               std::string_view device_kind) {
  const Tolerance& tolerance = device_kind == "cpu" ? kOnCpu : kOnGpu;
  std::vector<const CaseResult*> raced;
  for (const CaseResult& one : timed) {
    if (!has_samples_of_all(one)) {
      continue;
    }
    raced.push_back(&one);
    if (std::string why = why_changed(one, speeds_of_incumbent(one), tolerance.change);
        !why.empty()) {
      return why;
    }
  }
  if (raced.empty() || !(earned.speedup > 0)) {
    return {};
  }
  const profiling::Race own = against_baseline(raced, &CaseResult::incumbent_samples_ns);
  std::vector<double> speeds; // unlike Race::ratio(), also known without enough blocks
  for (std::size_t shape = 0; shape < raced.size(); ++shape) {
    const std::optional<double> ratio = own.ratio(shape);
    speeds.push_back(ratio ? *ratio : tasks::median(speeds_of_incumbent(*raced[shape])));
  }
  const double now = tasks::geometric_mean(speeds);
  const profiling::Race peer = against_baseline(raced, &CaseResult::samples_ns);
  const double measured = peer.interval().high / peer.ratio().value_or(1);
  const double noise =
      std::isfinite(measured) ? std::min(measured, tolerance.most_noise) : kWithoutInterval;
  const Bounds then = earned.bounds.known() ? earned.bounds
                                            : Bounds{earned.speedup / kWithoutInterval,
                                                     earned.speedup * kWithoutInterval};
  const double factor = noise * tolerance.repeats;
  if (now <= then.high * factor && now >= then.low / factor) {
    return {};
  }
  return fmt::format(
      "its speed over the baseline is {:.3g}x in the race, and was {:.3g}x ({:.3g} to "
      "{:.3g}) in its own evaluation",
      now, earned.speedup, then.low, then.high);
}

} // namespace winnow::evaluators
