#pragma once

#include "lab/session.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::lab {

/// A mean with its 95 % interval by Student's t. One value gives an interval of no width.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};
Estimate estimate(std::span<const double> values);

/// A policy under a name.
struct Variant {
  std::string name;
  search::Policy policy;
};

struct ComparisonPlan {
  std::size_t seeds = 30; ///< simulated tasks; at least 2
  /// The budget in each currency. Dollars or device seconds of 0: usual_price() of these calls.
  Limits budget{24, 0, 0};
  Machine machine;
  search::Settings settings;
};

/// How a variant stands to the reference: whether the interval of the difference excludes 0.
enum class Standing : std::uint8_t { Ahead, Tie, Behind };
std::string_view to_string(Standing standing);

/// The mean over the seeds, and the mean difference to the reference on the same seeds.
struct Score {
  Estimate own;
  Estimate difference;
  Standing standing() const;
};

struct ComparisonRow {
  std::string name;
  /// Areas under the curve of the best log speedup, divided by the budget, so that they are mean
  /// log speedups. Each is of a session of its own, with this currency as the only limit.
  Score by_calls;
  std::optional<Score> by_dollars; ///< nullopt: calls cost nothing
  Score by_device;
  // At the end of the session that is limited by calls:
  Score final;                                                  ///< log speedup
  Score hidden;                                                 ///< at hidden shapes
  double calls = 0, dollars = 0, device_seconds = 0, hours = 0; ///< means; hours of virtual time
};

struct Comparison {
  std::string landscape;
  Limits budget;
  std::size_t seeds = 0;
  std::string reference;
  std::vector<ComparisonRow> rows; ///< in the order of the variants
  std::size_t calls = 0;           ///< that were simulated
};

/// Runs each variant on the same simulated tasks. `reference`: an index of `variants`. Uses all
/// cores. Throws Error.
Comparison compare(const Landscape& landscape, const std::vector<Variant>& variants,
                   std::size_t reference, const ComparisonPlan& plan);

} // namespace winnow::lab
