#include "harness/report/timed_shapes.h"

#include "evaluators/timing/timed_case.h"
#include "harness/report/counted.h"
#include "harness/report/json_table.h"
#include "tasks/task/speedup_versus.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using tasks::Bounds;
using tasks::CaseResult;

CaseResult rival_case(const CaseResult& timed, std::string_view versus) {
  CaseResult rival = timed;
  rival.samples_ns = timed.incumbent_samples_ns;
  evaluators::summarise_times(rival);
  if (versus == tasks::kVersusEager) {
    evaluators::compare_medians(rival);
  }
  return rival;
}

} // namespace

std::vector<TimedShape> timed_shapes(const tasks::Evaluation& evaluation, std::string_view versus) {
  std::vector<TimedShape> shapes;
  for (const CaseResult& timed : evaluation.cases) {
    if (timed.stage != tasks::Stage::Time || tasks::is_hidden(timed.set) || timed.median_ns <= 0) {
      continue;
    }
    TimedShape& shape = shapes.emplace_back();
    shape.timed = timed;
    if (!timed.incumbent_samples_ns.empty()) {
      shape.rival = rival_case(timed, versus);
      const auto race = evaluators::race_at(timed, "");
      shape.ratio = race ? race->ratio.value_or(0) : 0;
      shape.ratio_bounds = race ? race->bounds : Bounds{};
    }
  }
  return shapes;
}

tasks::Speedup speedup_of_rival(const std::vector<TimedShape>& shapes) {
  std::vector<tasks::Speedup> speedups;
  for (const TimedShape& shape : shapes) {
    if (shape.rival) {
      speedups.push_back({shape.rival->speedup, shape.rival->speedup_bounds});
    }
  }
  return tasks::mean_speedup(speedups);
}

std::string time_interval_text(const Bounds& nanoseconds) {
  if (!nanoseconds.known()) {
    return {};
  }
  const TimeUnit unit = time_unit(nanoseconds.high);
  return fmt::format("{} to {} {}", four_digits(nanoseconds.low / unit.nanoseconds),
                     four_digits(nanoseconds.high / unit.nanoseconds), unit.name);
}

std::string ratio_text(double ratio) {
  return ratio > 0 ? four_digits(ratio) + "x" : "";
}

nlohmann::json measured_json(double value) {
  return value > 0 && std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

void put_measured(nlohmann::json& document, const std::string& name, const std::string& unit,
                  double value, const Bounds& bounds) {
  const bool bounded = bounds.known() && std::isfinite(bounds.high);
  document[name + unit] = measured_json(value);
  document[name + "_low" + unit] = bounded ? nlohmann::json(bounds.low) : nlohmann::json();
  document[name + "_high" + unit] = bounded ? nlohmann::json(bounds.high) : nlohmann::json();
}

void put_speedup_beside(nlohmann::json& rival, const std::vector<TimedShape>& shapes) {
  put_measured(rival, "alone_speedup", "", number_at(rival, "speedup"),
               bounds_at(rival, "speedup"));
  if (const tasks::Speedup beside = speedup_of_rival(shapes); beside.value > 0) {
    put_measured(rival, "speedup", "", beside.value, beside.bounds);
  }
}

std::string bound_text(double ratio) {
  std::string text = four_digits(ratio);
  std::string one = four_digits(1);
  for (int decimals = 4; ratio != 1 && text == one && decimals < 10; ++decimals) {
    text = fmt::format("{:.{}f}", ratio, decimals);
    one = fmt::format("{:.{}f}", 1.0, decimals);
  }
  return text;
}

std::string ratio_interval_text(const Bounds& bounds) {
  return bounds.known() && std::isfinite(bounds.high)
             ? bound_text(bounds.low) + " to " + bound_text(bounds.high)
             : "";
}

std::int64_t faster_shapes(const nlohmann::json& shapes) {
  return std::count_if(shapes.begin(), shapes.end(), [](const nlohmann::json& shape) {
    return number_at(shape, "ratio_low") > 1;
  });
}

std::string race_sentence(const tasks::RaceResult& race, const nlohmann::json& shapes,
                          const std::string& kernel, const std::string& rival) {
  if (!race.ratio) {
    const auto missing = std::count_if(shapes.begin(), shapes.end(), [](const auto& shape) {
      return !(number_at(shape, "ratio") > 0);
    });
    return fmt::format("no ratio of {} and {} is known: {} of {} had too few launches", kernel,
                       rival, missing, counted(static_cast<std::int64_t>(shapes.size()), "shape"));
  }
  const std::string interval = ratio_interval_text(race.bounds);
  return fmt::format("{} is {} as fast as {}: {}, {} of four launches; faster at {} of {}", kernel,
                     ratio_text(*race.ratio), rival,
                     interval.empty() ? "too few launches for an interval" : interval + " (99 %)",
                     counted(race.blocks, "block"), faster_shapes(shapes),
                     counted(static_cast<std::int64_t>(shapes.size()), "shape"));
}

} // namespace winnow::harness
