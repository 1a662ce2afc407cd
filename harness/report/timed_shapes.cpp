#include "harness/report/timed_shapes.h"

#include "profiling/statistics/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using tasks::Bounds;
using tasks::CaseResult;

Bounds bounds_of(const std::optional<profiling::Interval>& interval) {
  return interval ? Bounds{interval->low, interval->high} : Bounds{};
}

struct TimeUnit {
  double nanoseconds;
  const char* name;
};

TimeUnit unit_for(double nanoseconds) {
  constexpr std::array kUnits{TimeUnit{1, "ns"}, TimeUnit{1e3, "us"}, TimeUnit{1e6, "ms"},
                              TimeUnit{1e9, "s"}};
  TimeUnit unit = kUnits[0];
  for (const TimeUnit& larger : kUnits) {
    unit = nanoseconds >= larger.nanoseconds ? larger : unit;
  }
  return unit;
}

/// At least four digits, also for values that are rounded up to a power of ten.
std::string digits(double value) {
  const int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

} // namespace

std::vector<TimedShape> timed_shapes(const tasks::Evaluation& evaluation) {
  std::vector<TimedShape> shapes;
  for (const CaseResult& timed : evaluation.cases) {
    if (timed.stage != tasks::Stage::Time || tasks::is_hidden(timed.set) || timed.median_ns <= 0) {
      continue;
    }
    TimedShape& shape = shapes.emplace_back();
    shape.timed = &timed;
    const std::vector<double>& rival = timed.incumbent_samples_ns;
    if (!rival.empty()) {
      shape.rival_median_ns = tasks::median(rival);
      shape.rival_bounds_ns = bounds_of(profiling::bootstrap_median_interval(rival));
      shape.ratio = profiling::paired_ratio(rival, timed.samples_ns).value_or(0);
      shape.ratio_bounds = bounds_of(profiling::paired_ratio_interval(rival, timed.samples_ns));
    }
  }
  return shapes;
}

int faster_shapes(const std::vector<TimedShape>& shapes) {
  return static_cast<int>(std::count_if(shapes.begin(), shapes.end(), [](const TimedShape& shape) {
    return shape.ratio_bounds.known() && shape.ratio_bounds.low > 1;
  }));
}

CaseResult rival_case(const TimedShape& shape) {
  CaseResult rival;
  rival.stage = shape.timed->stage;
  rival.set = shape.timed->set;
  rival.shape_id = shape.timed->shape_id;
  rival.shape = shape.timed->shape;
  rival.samples_ns = shape.timed->incumbent_samples_ns;
  rival.baseline_samples_ns = shape.timed->baseline_samples_ns;
  rival.conditions = shape.timed->conditions;
  rival.median_ns = shape.rival_median_ns;
  rival.median_bounds_ns = shape.rival_bounds_ns;
  rival.baseline_median_ns = shape.timed->baseline_median_ns;
  rival.speedup = profiling::paired_ratio(rival.baseline_samples_ns, rival.samples_ns).value_or(0);
  rival.speedup_bounds =
      bounds_of(profiling::paired_ratio_interval(rival.baseline_samples_ns, rival.samples_ns));
  return rival;
}

std::string time_text(double nanoseconds) {
  if (!(nanoseconds > 0)) {
    return {};
  }
  const TimeUnit unit = unit_for(nanoseconds);
  return digits(nanoseconds / unit.nanoseconds) + " " + unit.name;
}

std::string time_interval_text(const Bounds& nanoseconds) {
  if (!nanoseconds.known()) {
    return {};
  }
  const TimeUnit unit = unit_for(nanoseconds.high);
  return fmt::format("{} to {} {}", digits(nanoseconds.low / unit.nanoseconds),
                     digits(nanoseconds.high / unit.nanoseconds), unit.name);
}

std::string ratio_text(double ratio) {
  return ratio > 0 ? digits(ratio) + "x" : "";
}

nlohmann::json measured_json(double value) {
  return value > 0 && std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json low_json(const Bounds& bounds) {
  return bounds.known() && std::isfinite(bounds.high) ? nlohmann::json(bounds.low)
                                                      : nlohmann::json();
}

nlohmann::json high_json(const Bounds& bounds) {
  return bounds.known() && std::isfinite(bounds.high) ? nlohmann::json(bounds.high)
                                                      : nlohmann::json();
}

std::string ratio_interval_text(const Bounds& bounds) {
  return bounds.known() && std::isfinite(bounds.high)
             ? digits(bounds.low) + " to " + digits(bounds.high)
             : "";
}

std::string_view why_not_measured(const tasks::Evaluation& evaluation) {
  const bool judged = evaluation.verdict != tasks::Verdict::Infrastructure &&
                      evaluation.verdict != tasks::Verdict::NotJudged;
  return judged ? "is not correct" : "was not judged";
}

std::string race_sentence(const tasks::RaceResult& race, const std::vector<TimedShape>& shapes,
                          const std::string& kernel, const std::string& rival) {
  const std::string interval = ratio_interval_text(race.bounds);
  return fmt::format("{} is {} as fast as {}: {}, {} block{} of four launches; faster at {} of {} "
                     "shape{}",
                     kernel, ratio_text(race.ratio), rival,
                     interval.empty() ? "too few launches for an interval" : interval + " (99 %)",
                     race.blocks, race.blocks == 1 ? "" : "s", faster_shapes(shapes), shapes.size(),
                     shapes.size() == 1 ? "" : "s");
}

} // namespace winnow::harness
