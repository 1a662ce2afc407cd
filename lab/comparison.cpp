#include "lab/comparison.h"

#include "lab/parallel_for.h"
#include "profiling/statistics/distributions.h"

#include <algorithm>
#include <cmath>

namespace winnow::lab {
namespace {

/// What one seed gives for one variant.
struct Measured {
  double by_calls = 0, by_dollars = 0, by_device = 0, final = 0, hidden = 0;
  double calls = 0, dollars = 0, device_seconds = 0, hours = 0;
  std::size_t simulated = 0; ///< calls, in all sessions
};

double area(const Landscape& landscape, const search::Policy& policy, SessionPlan plan,
            const Limits& limits, Axis axis, double budget, std::uint64_t seed,
            Measured& measured) {
  plan.limits = limits;
  const SessionResult result = simulate(landscape, policy, plan, seed);
  measured.simulated += result.curve.back().calls;
  return mean_height(result.curve, axis, budget);
}

Measured measure(const Landscape& landscape, const search::Policy& policy,
                 const ComparisonPlan& plan, const Limits& budget, std::uint64_t seed) {
  constexpr double kSecondsInAnHour = 3600;
  SessionPlan session{{budget.calls, 0, 0}, plan.machine, plan.settings};
  const SessionResult result = simulate(landscape, policy, session, seed);
  const CurvePoint& end = result.curve.back();
  Measured measured;
  measured.by_calls = mean_height(result.curve, Axis::Calls, static_cast<double>(budget.calls));
  measured.final = end.best;
  measured.hidden = end.hidden;
  measured.calls = static_cast<double>(end.calls);
  measured.dollars = end.dollars;
  measured.device_seconds = end.device_seconds;
  measured.hours = end.seconds / kSecondsInAnHour;
  measured.simulated = end.calls;
  if (budget.dollars > 0) {
    measured.by_dollars = area(landscape, policy, session, {0, budget.dollars, 0}, Axis::Dollars,
                               budget.dollars, seed, measured);
  }
  measured.by_device = area(landscape, policy, session, {0, 0, budget.device_seconds},
                            Axis::DeviceSeconds, budget.device_seconds, seed, measured);
  return measured;
}

Score score(const std::vector<Measured>& own, const std::vector<Measured>& reference,
            double Measured::*part) {
  std::vector<double> values, differences;
  for (std::size_t i = 0; i < own.size(); ++i) {
    values.push_back(own[i].*part);
    differences.push_back(own[i].*part - reference[i].*part);
  }
  return {estimate(values), estimate(differences)};
}

double mean_of(const std::vector<Measured>& all, double Measured::*part) {
  double sum = 0;
  for (const Measured& one : all) {
    sum += one.*part;
  }
  return sum / static_cast<double>(all.size());
}

ComparisonRow row_of(const std::string& name, const std::vector<Measured>& own,
                     const std::vector<Measured>& reference, bool has_prices) {
  ComparisonRow row;
  row.name = name;
  row.by_calls = score(own, reference, &Measured::by_calls);
  if (has_prices) {
    row.by_dollars = score(own, reference, &Measured::by_dollars);
  }
  row.by_device = score(own, reference, &Measured::by_device);
  row.final = score(own, reference, &Measured::final);
  row.hidden = score(own, reference, &Measured::hidden);
  row.calls = mean_of(own, &Measured::calls);
  row.dollars = mean_of(own, &Measured::dollars);
  row.device_seconds = mean_of(own, &Measured::device_seconds);
  row.hours = mean_of(own, &Measured::hours);
  return row;
}

} // namespace

std::string_view to_string(Standing standing) {
  return standing == Standing::Ahead ? "ahead" : standing == Standing::Tie ? "tie" : "behind";
}

Standing Score::standing() const {
  return difference.low > 0    ? Standing::Ahead
         : difference.high < 0 ? Standing::Behind
                               : Standing::Tie;
}

Comparison compare(const Landscape& landscape, const std::vector<Variant>& variants,
                   std::size_t reference, const ComparisonPlan& plan) {
  Comparison comparison;
  comparison.landscape = landscape.name;
  comparison.seeds = plan.seeds;
  comparison.reference = variants.at(reference).name;
  comparison.budget = usual_price(landscape, plan.budget.calls);
  if (plan.budget.dollars > 0) {
    comparison.budget.dollars = plan.budget.dollars;
  }
  if (plan.budget.device_seconds > 0) {
    comparison.budget.device_seconds = plan.budget.device_seconds;
  }
  const bool has_prices = std::any_of(landscape.models.begin(), landscape.models.end(),
                                      [](const LabModel& model) { return model.dollars > 0; });
  Limits budget = comparison.budget;
  budget.dollars = has_prices ? budget.dollars : 0;
  std::vector<std::vector<Measured>> measured(variants.size(), std::vector<Measured>(plan.seeds));
  // Neighbours have one seed, so that all cores get every variant.
  parallel_for(plan.seeds * variants.size(), [&](std::size_t i) {
    const std::size_t seed = i / variants.size(), variant = i % variants.size();
    measured[variant][seed] = measure(landscape, variants[variant].policy, plan, budget, seed + 1);
  });
  for (std::size_t i = 0; i < variants.size(); ++i) {
    comparison.rows.push_back(
        row_of(variants[i].name, measured[i], measured[reference], has_prices));
    for (const Measured& one : measured[i]) {
      comparison.calls += one.simulated;
    }
  }
  return comparison;
}

Estimate estimate(std::span<const double> values) {
  constexpr double kTail = 0.025;
  const auto count = static_cast<double>(values.size());
  if (values.empty()) {
    return {};
  }
  double mean = 0, squares = 0;
  for (const double value : values) {
    mean += value / count;
  }
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  if (values.size() < 2) {
    return {mean, mean, mean};
  }
  const double error = std::sqrt(squares / (count - 1) / count);
  const double half = profiling::student_quantile(kTail, count - 1) * error;
  return {mean, mean - half, mean + half};
}

} // namespace winnow::lab
