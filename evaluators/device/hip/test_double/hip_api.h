// The functions of libamdhip64 that the double implements, with the adapter's declarations.
#pragma once

#include "evaluators/device/hip/hip_functions.h"

namespace hip_double {
// The adapter's list of prototypes uses the adapter's names for handles.
using namespace winnow::evaluators::hip; // NOLINT(google-build-using-namespace)

extern "C" {
#define HIP_DOUBLE_DECLARE(name, parameters) Result name parameters;
WINNOW_HIP_FUNCTIONS(HIP_DOUBLE_DECLARE)
#ifndef HIP_DOUBLE_ROCM5
WINNOW_HIP_OPTIONAL_FUNCTIONS(HIP_DOUBLE_DECLARE)
#else
Result hipGetDeviceProperties(void* properties, int device);
#endif
#undef HIP_DOUBLE_DECLARE
const char* hipGetErrorName(Result result);
const char* hipGetErrorString(Result result);
}

} // namespace hip_double
