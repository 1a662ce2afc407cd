#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::profiling {

struct StopLimits {
  double relative_error = 0.002; ///< sufficient standard error / mean
  int min_samples = 7;
  int max_samples = 200;
  double budget_ns = std::numeric_limits<double>::infinity();
  double overdraft = 4; ///< min_samples of a slow kernel may take this many budgets
};

enum class StopReason { Converged, MaxSamples, Budget };
std::string_view to_string(StopReason reason);

/// Decides when a series of samples is long enough. The checks, in this order: the first sample is
/// always taken. `max_samples` end the series. Below `min_samples` the series goes on until
/// `overdraft` budgets are spent. Then the relative standard error or the budget ends it.
///
/// A sample that is not finite counts as a sample but does not enter the statistics.
class StopRule {
public:
  explicit StopRule(const StopLimits& limits) : limits_(limits) {}

  /// Whether to take one more sample. `samples` are all samples of the series in order and grow
  /// from call to call; a shorter span starts a new series. `spent_ns` is the wall-clock time of
  /// the series, including warm-up, poisoning, emptying caches and verifying.
  bool more(std::span<const double> samples, double spent_ns);
  /// Why the last call of more() returned false; empty after true.
  std::optional<StopReason> reason() const { return reason_; }

private:
  void follow(std::span<const double> samples);
  std::optional<StopReason> reason_to_stop(std::span<const double> samples, double spent_ns) const;
  bool converged() const;

  StopLimits limits_;
  std::optional<StopReason> reason_;
  std::size_t seen_ = 0;
  // Welford's running mean and sum of squares.
  double count_ = 0, mean_ = 0, squares_ = 0;
};

struct WarmUpLimits {
  int launches = 3;        ///< number of launches that must agree
  double tolerance = 0.02; ///< between the slowest and the fastest of these launches
  int max_launches = 25;
  double max_ns = std::numeric_limits<double>::infinity(); ///< total time of the launches
};

/// Warm-up until the times converge. The warm-up is over when the last launches lie within the
/// tolerance of each other. It is also over when the last launches no longer fall: none is faster
/// than all launches before them. Noisy kernels need this second criterion.
class WarmUp {
public:
  explicit WarmUp(const WarmUpLimits& limits = {}) : limits_(limits) {}

  /// Adds one launch. Returns true if the warm-up is over after this launch. A time that is not
  /// finite and positive only counts as a launch.
  bool warm(double ns);
  bool over() const { return over_; }
  /// Whether the warm-up ended because the times settled, not because of a limit.
  bool settled() const { return settled_; }
  int launches() const { return launches_; }

private:
  bool has_settled() const;

  WarmUpLimits limits_;
  std::vector<double> times_ns_;
  int launches_ = 0;
  double spent_ns_ = 0;
  bool over_ = false, settled_ = false;
};

} // namespace winnow::profiling
