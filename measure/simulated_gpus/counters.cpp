// The times of CUPTI on hosts with several H100s (docs/measurements/scale.md). The functions
// are those of CUPTI's double, which this library contains.
#include "measure/simulated_gpus/counters.h"

#include "measure/simulated_gpus/gpu.h"
#include "measure/simulated_gpus/host_lock.h"
#include "profiling/counters/testing/cupti_fake.h"

#include <chrono>
#include <cstdlib>
#include <string_view>

namespace winnow::simulated_gpus {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kEnable = 150ms;
constexpr nanoseconds kDecode = 5ms;

/// A function of CUPTI that calls the kernel driver again and again.
struct DriverCalls {
  int calls;
  nanoseconds time; ///< of all calls together, with one GPU
};
constexpr DriverCalls kStart{18, 10ms};
constexpr DriverCalls kStop{11, 6ms};
// What a start and a stop take longer together when other GPUs of the host count, too, apart from
// the waits for the lock. Chosen: with the lock alone, two GPUs take 24.8 ms a candidate, where
// 30.8 ms were measured.
constexpr nanoseconds kLongerWithOthers = 6ms;

void make(const DriverCalls& what) {
  static const HostLock lock;
  static bool others_count = false;
  for (int i = 0; i < what.calls; ++i) {
    others_count = lock.hold(what.time / what.calls) || others_count;
    if (others_count) {
      sleep(kLongerWithOthers / (kStart.calls + kStop.calls));
    }
  }
}

void take_time(std::string_view function) {
  cupti_double()->calls.clear();
  if (function == "cuptiRangeProfilerEnable") {
    sleep(kEnable);
    gpu().has_counters = true;
  } else if (function == "cuptiRangeProfilerStart") {
    make(kStart);
  } else if (function == "cuptiRangeProfilerStop") {
    make(kStop);
  } else if (function == "cuptiRangeProfilerDecodeData") {
    sleep(kDecode);
  }
}

} // namespace

void offer_counters() {
  setenv("WINNOW_CUPTI_LIBRARY", library_path().c_str(), 1);
  cupti_double()->on_call = take_time;
}

} // namespace winnow::simulated_gpus
