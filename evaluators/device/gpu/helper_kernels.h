#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Device code for GpuDevice's own use. It draws inputs, compares, hashes and fills buffers,
/// empties the L2 cache, clears the data that launches leave in multiprocessors, holds the stream,
/// and reads clocks for timings. It is plain C++ that NVRTC, hiprtc and the CPU device's compiler
/// accept. It is compiled like a kernel file, once per device architecture.
std::string_view gpu_helper_source();
/// The names of its kernels. None of them is a template.
const std::vector<std::string>& gpu_helper_kernels();

} // namespace winnow::evaluators
