#include "profiling/counters/cupti_device.h"

#include "profiling/counters/cupti_failure.h"

#include <fmt/format.h>

namespace winnow::profiling::cupti {
namespace {

using Support = CUpti_Profiler_DeviceSupported_Params;

bool forbids(CUpti_Profiler_Support_Level level) {
  return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
         level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
}

/// Why the device does not support counting; the most telling reason first.
std::string obstacle_of(const Support& support) {
  if (forbids(support.architecture)) {
    return "its architecture is too old (Turing or later is needed)";
  }
  if (support.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
    return "profiling is disabled for this vGPU; its host's administrator can enable it";
  }
  if (forbids(support.vGpu)) {
    return "it is a virtual GPU";
  }
  if (forbids(support.confidentialCompute)) {
    return "it is in confidential computing mode";
  }
  if (forbids(support.wsl)) {
    return "this version of WSL does not support profiling";
  }
  if (forbids(support.sli)) {
    return "it is in an SLI group";
  }
  if (forbids(support.cmp)) {
    return "it is a mining processor";
  }
  return "CUPTI does not say why";
}

void require_supported(const Functions& cupti, int ordinal) {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params);
  params.cuDevice = ordinal;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  check(cupti, cupti.cuptiProfilerDeviceSupported(&params), "cuptiProfilerDeviceSupported");
  if (forbids(params.isSupported)) {
    throw CuptiFailure(fmt::format("CUPTI cannot profile GPU {}: {}", ordinal, obstacle_of(params)),
                       "use a whole GPU, neither virtual nor a MIG instance", true);
  }
}

std::string chip_name(const Functions& cupti, int ordinal) {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
  params.deviceIndex = static_cast<std::size_t>(ordinal);
  check(cupti, cupti.cuptiDeviceGetChipName(&params), "cuptiDeviceGetChipName");
  return params.pChipName != nullptr ? params.pChipName : "";
}

Image availability_image(const Functions& cupti, CUcontext context) {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  params.ctx = context;
  check(cupti, cupti.cuptiProfilerGetCounterAvailability(&params),
        "cuptiProfilerGetCounterAvailability");
  Image image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check(cupti, cupti.cuptiProfilerGetCounterAvailability(&params),
        "cuptiProfilerGetCounterAvailability");
  image.resize(params.counterAvailabilityImageSize);
  return image;
}

} // namespace

Profiler::Profiler(const Functions& functions) : cupti_(functions) {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
  const CUptiResult result = cupti_.cuptiProfilerInitialize(&params);
  if (result == CUPTI_ERROR_UNKNOWN) { // CUPTI's result without a driver
    throw CuptiFailure(
        fmt::format("cuptiProfilerInitialize: {} finds no NVIDIA driver that works with this CUPTI",
                    cupti_.path),
        "check `nvidia-smi`; CUPTI 13 needs driver 580 or later", true);
  }
  check(cupti_, result, "cuptiProfilerInitialize");
}

Profiler::~Profiler() {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params);
  cupti_.cuptiProfilerDeInitialize(&params);
}

Chip open_chip(const Functions& functions, CUcontext context, int ordinal) {
  require_supported(functions, ordinal);
  return {chip_name(functions, ordinal), availability_image(functions, context)};
}

} // namespace winnow::profiling::cupti
