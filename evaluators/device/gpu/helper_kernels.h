#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Device code that GpuDevice needs for itself: draws inputs, compares, hashes and fills buffers,
/// empties the L2 cache, clears what launches leave in multiprocessors, holds the stream and reads
/// clocks for timings. Plain C++ that NVRTC, hiprtc and the CPU device's compiler take alike;
/// compiled as any kernel file, once a device architecture.
std::string_view gpu_helper_source();
/// Names of its kernels, none of them a template.
const std::vector<std::string>& gpu_helper_kernels();

} // namespace winnow::evaluators
