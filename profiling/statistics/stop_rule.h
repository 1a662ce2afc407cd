#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::profiling {

struct StopLimits {
  double relative_error = 0.002; ///< standard error / mean that is good enough
  int min_samples = 7;
  int max_samples = 200;
  double budget_ns = std::numeric_limits<double>::infinity();
  double overdraft = 4; ///< slow kernels may spend this many budgets on min_samples
};

enum class StopReason { Converged, Entropy, MaxSamples, Budget };
std::string_view to_string(StopReason reason);

/// When a series of samples is long enough. In this order: the first sample is always taken;
/// `max_samples` end it; fewer than `min_samples` go on until `overdraft` budgets are spent; then
/// the budget, the relative standard error, and the entropy criterion of nvbench end it.
///
/// Entropy: more samples no longer change what is known about the noise. The Shannon entropy of the
/// samples so far is followed over the last 299; it has settled when a line through it rises by
/// at most 0.048 degrees (bits a sample) and explains at least 36 % of its variance. nvbench
/// tells samples apart that differ at all, which suits its timer's steps; here they are told apart
/// in steps of `relative_error`. Needs more samples the noisier they are, some hundred as a rule.
///
/// Samples that are not finite count as samples and are left out of what is calculated.
class StopRule {
public:
  explicit StopRule(const StopLimits& limits) : limits_(limits) {}

  /// Whether one more sample is worth taking. `samples` are all of the series so far, in order, and
  /// grow from call to call; a shorter span starts a new series. `spent_ns` is the time it took
  /// on the clock, with warm-up, poisoning, emptying caches and verifying.
  bool more(std::span<const double> samples, double spent_ns);
  /// Why the last call of more() was false; empty while it was true.
  std::optional<StopReason> reason() const { return reason_; }

private:
  void follow(std::span<const double> samples);
  std::optional<StopReason> reason_to_stop(std::span<const double> samples, double spent_ns) const;
  bool converged() const;
  bool entropy_settled() const;

  StopLimits limits_;
  std::optional<StopReason> reason_;
  std::size_t seen_ = 0;
  // Welford's running mean and squares.
  double count_ = 0, mean_ = 0, squares_ = 0;
  std::map<long long, double> frequencies_; // of samples by step
  double sum_of_logs_ = 0;                  // of f log2 f over frequencies
  std::deque<double> entropies_;            // the last ones
};

struct WarmUpLimits {
  int launches = 3;        ///< that must agree
  double tolerance = 0.02; ///< between the slowest and the fastest of them
  int max_launches = 25;
  double max_ns = std::numeric_limits<double>::infinity(); ///< of launches together
};

/// Warm-up by convergence. It is over when the last launches lie within the tolerance of each
/// other, or no longer fall: none of them undercuts all that came before them. Noisy kernels need
/// that second way.
class WarmUp {
public:
  explicit WarmUp(const WarmUpLimits& limits = {}) : limits_(limits) {}

  /// Takes note of one more launch; true when the warm-up is over, this launch being its last. A
  /// time that is not finite and positive counts as a launch and as nothing else.
  bool warm(double ns);
  bool over() const { return over_; }
  /// Whether it is over because times settled, not because a limit was reached.
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
