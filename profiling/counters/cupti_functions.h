// CUPTI's functions and types. For the .cpp files of this folder only, because it includes CUPTI's
// headers.
#pragma once

#include "base/availability.h"

#include <string>
#include <vector>

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

namespace winnow::profiling::cupti {

#define WINNOW_CUPTI_FUNCTIONS(X)                                                                  \
  X(cuptiDeviceGetChipName)                                                                        \
  X(cuptiGetResultString)                                                                          \
  X(cuptiProfilerDeInitialize)                                                                     \
  X(cuptiProfilerDeviceSupported)                                                                  \
  X(cuptiProfilerGetCounterAvailability)                                                           \
  X(cuptiProfilerHostConfigAddMetrics)                                                             \
  X(cuptiProfilerHostDeinitialize)                                                                 \
  X(cuptiProfilerHostEvaluateToGpuValues)                                                          \
  X(cuptiProfilerHostGetConfigImage)                                                               \
  X(cuptiProfilerHostGetConfigImageSize)                                                           \
  X(cuptiProfilerHostGetMetricProperties)                                                          \
  X(cuptiProfilerHostGetNumOfPasses)                                                               \
  X(cuptiProfilerHostInitialize)                                                                   \
  X(cuptiProfilerInitialize)                                                                       \
  X(cuptiRangeProfilerCounterDataImageInitialize)                                                  \
  X(cuptiRangeProfilerDecodeData)                                                                  \
  X(cuptiRangeProfilerDisable)                                                                     \
  X(cuptiRangeProfilerEnable)                                                                      \
  X(cuptiRangeProfilerGetCounterDataInfo)                                                          \
  X(cuptiRangeProfilerGetCounterDataSize)                                                          \
  X(cuptiRangeProfilerPopRange)                                                                    \
  X(cuptiRangeProfilerPushRange)                                                                   \
  X(cuptiRangeProfilerSetConfig)                                                                   \
  X(cuptiRangeProfilerStart)                                                                       \
  X(cuptiRangeProfilerStop)

struct Functions {
#define WINNOW_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  WINNOW_CUPTI_FUNCTIONS(WINNOW_CUPTI_MEMBER)
#undef WINNOW_CUPTI_MEMBER
  std::string path; ///< of the library
};

struct Library {
  Availability availability;
  Functions functions; ///< call these only if available
};

/// The paths to search for CUPTI, in this order: only WINNOW_CUPTI_LIBRARY if set; else the
/// loader's path, the toolkits in CUDA_HOME and CUDA_PATH, the usual places.
std::vector<std::string> library_candidates();

/// Loads CUPTI and never unloads it. Initialises nothing.
Library load_library();

/// A params struct for CUPTI: zeroed, with its size set and without pPriv.
#define WINNOW_CUPTI_PARAMS(Type) ::winnow::profiling::cupti::params_of<Type>(Type##_STRUCT_SIZE)

template <class Params> Params params_of(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

} // namespace winnow::profiling::cupti
