#pragma once

#include "profiling/counters/counter_provider.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::profiling {

/// The counters of an AMD GPU: always unavailable, with the exact reason. Looks for the library of
/// rocprofiler-sdk without loading it, because loading it registers a tool with the HIP runtime.
std::unique_ptr<CounterProvider> make_amd_counters();

/// The paths to search for rocprofiler-sdk: only WINNOW_ROCPROFILER_LIBRARY if set, else ROCM_PATH,
/// LD_LIBRARY_PATH and the usual places.
std::vector<std::string> rocprofiler_candidates();

} // namespace winnow::profiling
