#pragma once

#include "evaluators/device/headers/unsupported_headers.h"

#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Headers of the cpu tree that are plain CUDA C++ once the prelude is the other one: the hip tree
/// has them too, as hip_header_text() turns them out.
inline constexpr std::string_view kSharedWithHip[] = {
    "builtin_types.h",
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

/// Beyond kUnsupportedHeaders.
inline constexpr UnsupportedHeader kUnsupportedOnHip[] = {
    {"mma.h", "tensor cores (wmma)"},
    {"crt/mma.h", "tensor cores (wmma)"},
    {"cuda/atomic", "libcu++ atomics"},
};

/// A header of the cpu tree for hiprtc: after HIP's prelude, and with all functions on both sides,
/// since the CPU device has no need of __device__.
std::string hip_header_text(std::string_view cpu_text);

} // namespace winnow::evaluators
