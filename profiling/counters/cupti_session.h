// Counts kernels with CUPTI's range profiler in user range and user replay mode. For the .cpp files
// of this folder only.
#pragma once

#include "profiling/counters/counter_provider.h"
#include "profiling/counters/cupti_plan.h"

#include <cstddef>
#include <span>
#include <string>

namespace winnow::profiling::cupti {

/// The most runs of one pass.
inline constexpr std::size_t kMostRanges = 16;

/// Keeps the range profiler enabled for a context during its lifetime, for one plan: CUPTI 13.0
/// loses ranges when the counter data image of a session changes. The order of calls follows
/// the "Range Profiling API" in CUPTI's documentation. User range and user replay, because the
/// caller owns the buffers and restores them exactly, and because a candidate may launch several
/// kernels. For each list of runs: configure(), run_pass() until it returns true, decode(). After a
/// failure: close().
class RangeSession {
public:
  /// Throws CuptiFailure. `functions` and `plan` must outlive the session.
  RangeSession(const Functions& functions, CUcontext context, const Plan& plan);
  /// Closes an open pass and disables the range profiler.
  ~RangeSession();
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  const Plan& plan() const { return plan_; }
  /// Begins to count `runs` runs, kMostRanges at most. Throws CuptiFailure.
  void configure(std::size_t runs);
  /// Makes each run a range. Returns true after the last pass. Exceptions of the runs pass through;
  /// then close() ends the pass. Throws CuptiFailure.
  bool run_pass(std::span<const CountedRun> runs);
  /// The counter data of the ranges. Waits for the context. Throws CuptiFailure if a range was
  /// dropped or is missing.
  const Image& decode();
  /// Ends an open pass and disables the range profiler. Returns an empty string, or the error;
  /// after an error the profiler may still be enabled.
  std::string close() noexcept;

private:
  std::size_t counter_data_bytes() const;
  void run_range(const CountedRun& run, const std::string& name);
  void clear_counter_data();
  CUptiResult pop() noexcept;
  CUptiResult stop(bool& all_submitted) noexcept;
  void abandon_pass() noexcept;

  const Functions& cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool started_ = false;
  bool pushed_ = false;
  const Plan& plan_;
  std::size_t runs_ = 0; ///< to count
  Image config_;         ///< CUPTI keeps pointers to both images
  Image data_;
};

} // namespace winnow::profiling::cupti
