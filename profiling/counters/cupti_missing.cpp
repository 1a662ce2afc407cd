// Replaces the CUPTI adapter in a build without CUPTI's headers.
#include "profiling/counters/counter_provider.h"
#include "profiling/counters/cupti_provider.h"

namespace winnow::profiling {

std::unique_ptr<CounterProvider> make_cupti_counters(void* /*cuda_context*/,
                                                     int /*device_ordinal*/) {
  return make_no_counters(
      "cupti", Availability::no("this program was built without CUPTI 13's headers",
                                "install CUPTI of CUDA 13 (cupti_range_profiler.h), configure and "
                                "build again"));
}

} // namespace winnow::profiling
