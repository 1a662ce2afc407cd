#pragma once

#include "profiling/counters/counter_provider.h"

#include <memory>

namespace winnow::profiling {

/// An NVIDIA GPU's counters through CUPTI's range profiler, loaded at run time. Never null, never
/// throws: where counters cannot be read, the provider says why (no library, no permission, device
/// not supported, another profiler).
///
/// `cuda_context` is the CUcontext that collect()'s launches run in: current on this thread, which
/// is also the only one that may call the provider, and alive until the provider is gone. While
/// collect() runs, nothing else may use the context. `device_ordinal` is CUDA's.
/// Passes a set takes: counter_names.h. The clocks are left as they are.
std::unique_ptr<CounterProvider> make_cupti_counters(void* cuda_context, int device_ordinal);

} // namespace winnow::profiling
