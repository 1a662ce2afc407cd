#pragma once

#include "evaluators/device/headers/unsupported_headers.h"

#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Headers of the cpu tree that the hip tree has, too. They are plain CUDA C++ and differ only in
/// the prelude. Example: the cpu tree's curand_kernel.h includes "winnow_cpu.h"; hip_header_text()
/// makes a copy for the hip tree that includes "winnow_hip.h".
inline constexpr std::string_view kSharedWithHip[] = {
    "builtin_types.h",
    "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/scan.h",
    "cuda.h",
    "cuda/cmath",
    "cuda/std/algorithm",
    "cuda/std/array",
    "cuda/std/cassert",
    "cuda/std/cfloat",
    "cuda/std/climits",
    "cuda/std/cmath",
    "cuda/std/cstddef",
    "cuda/std/cstdint",
    "cuda/std/functional",
    "cuda/std/limits",
    "cuda/std/type_traits",
    "cuda/std/utility",
    "cuda_bf16.h",
    "cuda_device_runtime_api.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "curand.h",
    "curand_kernel.h",
    "device_atomic_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "driver_types.h",
    "host_defines.h",
    "math_constants.h",
    "math_functions.h",
    "sm_30_intrinsics.h",
    "sm_32_intrinsics.h",
    "vector_functions.h",
    "winnow_cuda_std.h",
    "winnow_float16_type.inc",
};

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
