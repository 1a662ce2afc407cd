// The CUPTI functions that Winnow calls, without a GPU. They check things that the real functions
// do not report or answer with a crash: sizes of structs, order of calls, open handles, existing
// images.
#include "profiling/counters/testing/cupti_fake.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

using winnow::profiling::CuptiDouble;

struct CUpti_Profiler_Host_Object {
  std::set<std::string> metrics;
};

struct CUpti_RangeProfiler_Object {
  std::uint8_t* data = nullptr;
  std::size_t data_size = 0;
  bool started = false;
  bool pushed = false;
  std::size_t passes = 0;
  std::size_t ranges = 0;             // of the configuration
  std::set<std::string> pushed_names; // in this pass: equal names are one range
};

namespace {

// The first byte of a counter data image is its state, the second the number of its ranges. The
// first byte of any other image marks a valid image.
constexpr std::uint8_t kInitialised = 'I';
constexpr std::uint8_t kDecoded = 'D';
constexpr std::uint8_t kConfig = 'C';
constexpr std::uint8_t kAvailability = 'A';
constexpr std::size_t kImageSize = 64;

CuptiDouble& state() {
  return *cupti_double();
}

CUptiResult mistake(const std::string& what) {
  state().mistakes.push_back(what);
  return CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult configured(const std::string& function) {
  const auto failing = state().failing.find(function);
  return failing != state().failing.end() ? failing->second : CUPTI_SUCCESS;
}

template <class Params> CUptiResult enter(const char* function, Params* params, std::size_t size) {
  state().calls.emplace_back(function);
  if (state().on_call) {
    state().on_call(function);
  }
  if (params->structSize != size || params->pPriv != nullptr) {
    return mistake(std::string(function) + ": structSize or pPriv");
  }
  if (state().initialised == 0 && std::strcmp(function, "cuptiProfilerInitialize") != 0) {
    return mistake(std::string(function) + " before cuptiProfilerInitialize");
  }
  return configured(function);
}

template <class Params>
CUptiResult enter_range(const char* function, Params* params, std::size_t size) {
  const CUptiResult result = enter(function, params, size);
  return result == CUPTI_SUCCESS && params->pRangeProfilerObject == nullptr
             ? mistake(std::string(function) + " without a range object")
             : result;
}

void require(bool condition, const char* what) {
  if (!condition) {
    mistake(what);
  }
}

} // namespace

#define ENTER(Type)                                                                                \
  if (const CUptiResult result = enter(__func__, params, Type##_STRUCT_SIZE);                      \
      result != CUPTI_SUCCESS) {                                                                   \
    return result;                                                                                 \
  }
#define ENTER_RANGE(Type)                                                                          \
  if (const CUptiResult result = enter_range(__func__, params, Type##_STRUCT_SIZE);                \
      result != CUPTI_SUCCESS) {                                                                   \
    return result;                                                                                 \
  }                                                                                                \
  CUpti_RangeProfiler_Object& range = *params->pRangeProfilerObject;

extern "C" {

CuptiDouble* cupti_double() {
  static CuptiDouble only;
  return &only;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  static std::string name;
  name = "RESULT_" + std::to_string(static_cast<int>(result));
  *text = name.c_str();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  ENTER(CUpti_Profiler_Initialize_Params)
  ++state().initialised;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  ENTER(CUpti_Profiler_DeInitialize_Params)
  require(state().hosts_open == 0 && state().ranges_open == 0, "DeInitialize with open handles");
  --state().initialised;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  ENTER(CUpti_Profiler_DeviceSupported_Params)
  params->isSupported = state().supported;
  params->architecture = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  params->sli = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  params->vGpu = state().vgpu;
  params->confidentialCompute = state().confidential;
  params->cmp = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  params->wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  ENTER(CUpti_Device_GetChipName_Params)
  params->pChipName = "DOUBLE100";
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  ENTER(CUpti_Profiler_GetCounterAvailability_Params)
  if (params->pCounterAvailabilityImage != nullptr) {
    require(params->counterAvailabilityImageSize >= kImageSize, "a short availability image");
    params->pCounterAvailabilityImage[0] = kAvailability;
  }
  params->counterAvailabilityImageSize = kImageSize;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  ENTER(CUpti_Profiler_Host_Initialize_Params)
  require(params->profilerType == CUPTI_PROFILER_TYPE_RANGE_PROFILER, "not the range profiler");
  require(std::string_view(params->pChipName) == "DOUBLE100", "not the device's chip");
  require(params->pCounterAvailabilityImage != nullptr &&
              params->pCounterAvailabilityImage[0] == kAvailability,
          "without the availability image");
  params->pHostObject = new CUpti_Profiler_Host_Object;
  ++state().hosts_open;
  ++state().hosts_made;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  ENTER(CUpti_Profiler_Host_Deinitialize_Params)
  delete params->pHostObject;
  --state().hosts_open;
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  ENTER(CUpti_Profiler_Host_GetMetricProperties_Params)
  return state().unknown_metrics.count(params->pMetricName) != 0 ? CUPTI_ERROR_INVALID_METRIC_NAME
                                                                 : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  ENTER(CUpti_Profiler_Host_ConfigAddMetrics_Params)
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const std::string metric = params->ppMetricNames[i];
    if (state().unschedulable_metrics.count(metric) + state().unknown_metrics.count(metric) != 0) {
      return CUPTI_ERROR_INVALID_PARAMETER; // for the whole batch
    }
    params->pHostObject->metrics.insert(metric);
  }
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  ENTER(CUpti_Profiler_Host_GetConfigImageSize_Params)
  params->configImageSize = kImageSize;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  ENTER(CUpti_Profiler_Host_GetConfigImage_Params)
  require(params->configImageSize >= kImageSize, "a short configuration image");
  std::memset(params->pConfigImage, kConfig, params->configImageSize);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  ENTER(CUpti_Profiler_Host_GetNumOfPasses_Params)
  require(params->pConfigImage[0] == kConfig, "passes of what is no configuration image");
  params->numOfPasses = state().planned_passes;
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  ENTER(CUpti_Profiler_Host_EvaluateToGpuValues_Params)
  require(params->pCounterDataImage[0] == kDecoded &&
              params->rangeIndex < params->pCounterDataImage[1],
          "evaluating what is not decoded");
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const std::string metric = params->ppMetricNames[i];
    require(params->pHostObject->metrics.count(metric) != 0, "evaluating what was not added");
    if (state().unevaluable_metrics.count(metric) != 0) {
      return CUPTI_ERROR_INVALID_METRIC_VALUE;
    }
    const auto value = state().values.find(metric);
    params->pMetricValues[i] =
        value != state().values.end() ? value->second : CuptiDouble::kUsualValue;
    params->pMetricValues[i] += static_cast<double>(params->rangeIndex);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  ENTER(CUpti_RangeProfiler_Enable_Params)
  require(params->ctx != nullptr, "Enable without a context");
  require(state().ranges_open == 0, "Enable twice");
  params->pRangeProfilerObject = new CUpti_RangeProfiler_Object;
  ++state().ranges_open;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  // Disable, PopRange and Stop do their work even if they fail, because Winnow calls none of them
  // twice.
  const CUptiResult result =
      enter(__func__, params, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  require(!params->pRangeProfilerObject->started, "Disable in a pass");
  delete params->pRangeProfilerObject;
  --state().ranges_open;
  return result;
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  ENTER_RANGE(CUpti_RangeProfiler_GetCounterDataSize_Params)
  require(params->numMetrics > 0 && params->maxNumOfRanges > 0 &&
              params->maxNumRangeTreeNodes == params->maxNumOfRanges && !range.started,
          "counter data for no range");
  params->counterDataSize = kImageSize * params->maxNumOfRanges;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  ENTER_RANGE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
  require(params->counterDataSize % kImageSize == 0 && !range.started,
          "counter data of another size");
  std::memset(params->pCounterData, kInitialised, params->counterDataSize);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  ENTER_RANGE(CUpti_RangeProfiler_SetConfig_Params)
  require(params->range == CUPTI_UserRange && params->replayMode == CUPTI_UserReplay,
          "not user range and user replay");
  require(params->numNestingLevels == 1 && params->minNestingLevel == 1 &&
              params->targetNestingLevel == 1 && params->passIndex == 0,
          "another nesting or pass");
  require(params->counterDataImageSize == kImageSize * params->maxRangesPerPass,
          "counter data for another number of ranges");
  require(params->pConfig[0] == kConfig && params->pCounterDataImage[0] == kInitialised,
          "images that are not ready");
  require(!range.started, "SetConfig in a pass");
  require(range.data == nullptr || range.data == params->pCounterDataImage,
          "another counter data image: CUPTI would lose ranges");
  range.passes = 0;
  range.ranges = params->maxRangesPerPass;
  range.data = params->pCounterDataImage;
  range.data_size = params->counterDataImageSize;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  ENTER_RANGE(CUpti_RangeProfiler_Start_Params)
  require(range.data != nullptr && !range.started, "Start without SetConfig, or twice");
  range.started = true;
  range.pushed_names.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  ENTER_RANGE(CUpti_RangeProfiler_PushRange_Params)
  require(range.started && !range.pushed && params->pRangeName != nullptr, "PushRange");
  range.pushed = true;
  range.pushed_names.insert(params->pRangeName);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  const CUptiResult result =
      enter_range(__func__, params, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  CUpti_RangeProfiler_Object& range = *params->pRangeProfilerObject;
  require(range.started && range.pushed, "PopRange without PushRange");
  range.pushed = false;
  return result;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  const CUptiResult result =
      enter_range(__func__, params, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  CUpti_RangeProfiler_Object& range = *params->pRangeProfilerObject;
  require(range.started && !range.pushed, "Stop without Start, or in a range");
  range.started = false;
  ++range.passes;
  params->isAllPassSubmitted = range.passes >= state().needed_passes ? 1 : 0;
  return result;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  ENTER_RANGE(CUpti_RangeProfiler_DecodeData_Params)
  require(!range.started && range.passes == state().needed_passes, "Decode before all passes");
  require(!range.pushed_names.empty() && range.pushed_names.size() <= range.ranges,
          "Decode of more ranges than configured");
  std::memset(range.data, kDecoded, range.data_size);
  range.data[1] = static_cast<std::uint8_t>(state().ranges.value_or(range.pushed_names.size()));
  params->numOfRangeDropped = state().dropped_ranges;
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  ENTER(CUpti_RangeProfiler_GetCounterDataInfo_Params)
  require(params->pCounterDataImage[0] == kDecoded, "info of what is not decoded");
  params->numTotalRanges = params->pCounterDataImage[1];
  return CUPTI_SUCCESS;
}

} // extern "C"
