#pragma once

#include "profiling/counters/counter_provider.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::profiling {

/// An AMD GPU's counters: always unavailable, with the exact reason. Looks for rocprofiler-sdk's
/// library without loading it, because loading it alone registers a tool with the HIP runtime.
std::unique_ptr<CounterProvider> make_amd_counters();

/// Where rocprofiler-sdk is looked for: WINNOW_ROCPROFILER_LIBRARY alone where it is set, else
/// ROCM_PATH, LD_LIBRARY_PATH and the usual places.
std::vector<std::string> rocprofiler_candidates();

} // namespace winnow::profiling
