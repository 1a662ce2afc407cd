// The abilities of a device. For the .cpp files of this folder only.
#pragma once

#include "profiling/counters/cupti_plan.h"

namespace winnow::profiling::cupti {

/// Keeps CUPTI's profiler initialised during its lifetime. Throws CuptiFailure.
class Profiler {
public:
  explicit Profiler(const Functions& functions);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

private:
  const Functions& cupti_;
};

/// The chip of the device and the counters that this process may read. Checks everything that could
/// forbid counting before any set-up. The availability image already shows a missing permission,
/// long before CUPTI's Start would fail. Throws CuptiFailure.
Chip open_chip(const Functions& functions, CUcontext context, int ordinal);

} // namespace winnow::profiling::cupti
