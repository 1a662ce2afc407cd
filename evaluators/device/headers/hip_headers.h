#pragma once

#include "evaluators/device/headers/unsupported_headers.h"

#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Headers of the cpu tree that the hip tree does not have. It has its own of some names, and
/// refuses some. All others are plain CUDA C++ and differ only in the prelude. Example: the cpu
/// tree's curand_kernel.h includes "winnow_cpu.h"; hip_header_text() makes a copy for the hip tree
/// that includes "winnow_hip.h".
inline constexpr std::string_view kOnCpuOnly[] = {"winnow_core.h", "winnow_cpu.h", "winnow_math.h",
                                                  "winnow_memory.h"};

/// Further headers, in addition to kUnsupportedHeaders.
inline constexpr UnsupportedHeader kUnsupportedOnHip[] = {
    {"mma.h", "tensor cores (wmma)"},
    {"crt/mma.h", "tensor cores (wmma)"},
    {"cuda/atomic", "libcu++ atomics"},
};

/// Turns a header of the cpu tree into one for hiprtc. Replaces the prelude by HIP's, and makes all
/// functions usable on host and device, because the CPU headers have no __device__.
std::string hip_header_text(std::string_view cpu_text);

} // namespace winnow::evaluators
