// CUDA C++ for hiprtc: goes before every candidate. hiprtc has HIP's own device functions built in;
// this adds what CUDA has and HIP lacks or spells otherwise. Names that some ROCm versions have and
// others do not are macros for Winnow's own, so that every version gives the same.
#pragma once

#define WINNOW_HIP_DEVICE 1
#include "prelude.h"

using size_t = __SIZE_TYPE__;
using ptrdiff_t = __PTRDIFF_TYPE__;

// hiprtc declares a part of std:: that differs from version to version. Winnow's std:: is another
// namespace under the same name; messages get the name back.
namespace winnow_std {}
#define std winnow_std

#define WINNOW_CONCAT_NOW(a, b) a##b
#define WINNOW_CONCAT(a, b) WINNOW_CONCAT_NOW(a, b)

#ifndef assert
#define assert(condition)                                                                          \
  ((condition) ? static_cast<void>(0) : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#ifndef __align__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

#pragma clang force_cuda_host_device begin
#include "winnow_intrinsics.h"
#include "winnow_warp.h"
#include "winnow_unsupported.h"
#include "algorithm"
#include "cmath"
#include "limits"
#pragma clang force_cuda_host_device end
