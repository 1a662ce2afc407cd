// What a context's device allows. For this folder's .cpp files only.
#pragma once

#include "profiling/counters/cupti_plan.h"

namespace winnow::profiling::cupti {

/// CUPTI's profiler is initialised while this lives. Throws CuptiFailure.
class Profiler {
public:
  explicit Profiler(const Functions& functions);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

private:
  const Functions& cupti_;
};

/// The device's chip and which counters it lets this process read. Asks for everything that may
/// forbid counting before anything is set up: permission shows in the availability image, long
/// before CUPTI's Start would fail. Throws CuptiFailure.
Chip open_chip(const Functions& functions, CUcontext context, int ordinal);

} // namespace winnow::profiling::cupti
