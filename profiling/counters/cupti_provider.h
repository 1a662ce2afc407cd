#pragma once

#include "profiling/counters/counter_provider.h"

#include <memory>

namespace winnow::profiling {

/// Reads the counters of an NVIDIA GPU through CUPTI's range profiler, which is loaded at run time.
/// Never returns null and never throws. If the counters cannot be read, the provider says why (no
/// library, no permission, unsupported device, another profiler).
///
/// `cuda_context` is the CUcontext for the launches of collect(). It must be current on this thread
/// and must outlive the provider. Only this thread may call the provider. During collect() only the
/// provider may use the context. `device_ordinal` is CUDA's. counter_names.h gives the passes of a
/// set. The provider does not change the clocks.
std::unique_ptr<CounterProvider> make_cupti_counters(void* cuda_context, int device_ordinal);

} // namespace winnow::profiling
