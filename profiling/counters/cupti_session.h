// Counting kernels: CUPTI's range profiler, user range, user replay. For this folder's .cpp
// files only.
#pragma once

#include "profiling/counters/counter_provider.h"
#include "profiling/counters/cupti_plan.h"

#include <functional>
#include <string>

namespace winnow::profiling::cupti {

/// The range profiler is on for a context while this object lives. The sequence of calls is that of
/// the "Range Profiling API" in CUPTI's documentation; user range and user replay, because the
/// caller owns the buffers and restores them exactly, and a candidate may launch several kernels.
/// For each kernel: configure(), run_pass() until it says so, decode(). After a failure: close().
class RangeSession {
public:
  /// Throws CuptiFailure. `functions` stays alive for longer.
  RangeSession(const Functions& functions, CUcontext context);
  /// Takes back whatever is still open.
  ~RangeSession();
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  /// Throws CuptiFailure.
  void configure(const Plan& plan);
  /// Whether all passes are submitted. What `launch` throws passes through, and close() ends the
  /// pass. Throws CuptiFailure.
  bool run_pass(const std::function<void()>& launch);
  /// The counter data of the range; waits for the context. Throws CuptiFailure: a range was dropped
  /// or there is not exactly one.
  const Image& decode();
  /// Ends an open pass and turns the range profiler off; empty, or why that failed: it may still be
  /// on then.
  std::string close() noexcept;

private:
  Image new_counter_data(const Plan& plan) const;
  CUptiResult pop() noexcept;
  CUptiResult stop(bool& all_submitted) noexcept;
  void abandon_pass() noexcept;

  const Functions& cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool started_ = false;
  bool pushed_ = false;
  Image config_; ///< CUPTI keeps pointers to both images
  Image data_;
};

} // namespace winnow::profiling::cupti
