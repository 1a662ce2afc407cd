#include "profiling/counters/cupti_failure.h"

#include <fmt/format.h>

namespace winnow::profiling::cupti {
namespace {

struct Meaning {
  const char* why;
  const char* remedy;
  bool lasting;
};

constexpr const char* kOtherGpu = "use a whole GPU, neither virtual nor a MIG instance";

Meaning permission_meaning() {
  return {"the NVIDIA driver lets only administrators read counters",
          "run as root or with CAP_SYS_ADMIN (CAP_PERFMON is enough from driver 565 on; a "
          "container needs --cap-add=SYS_ADMIN or --cap-add=PERFMON), or let every user read "
          "counters: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d, "
          "then load the driver again",
          true};
}

Meaning meaning_of(CUptiResult result) {
  switch (result) {
  case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    return permission_meaning();
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    return {"the host of this virtual GPU does not allow it to read counters",
            "ask the host's administrator to enable profiling for this vGPU", true};
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    return {"counters cannot be read on this virtual GPU", kOtherGpu, true};
  case CUPTI_ERROR_HARDWARE_BUSY:
    return {"another profiler holds the counters (DCGM, Nsight, another process)",
            "pause that profiler, for instance with `dcgmi profile --pause`", false};
  case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    return {"the GPU is in confidential computing mode, which forbids counters",
            "use a GPU without confidential computing, or in its devtools mode", true};
  case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    return {"another tool is subscribed to CUPTI in this process",
            "do not start Winnow under nsys, ncu, cuda-gdb or compute-sanitizer", true};
  case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    return {"counters cannot be read on this MIG instance", kOtherGpu, true};
  case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_NOT_SUPPORTED:
  case CUPTI_ERROR_INVALID_CHIP_NAME:
    return {"CUPTI does not read this GPU's counters", kOtherGpu, true};
  case CUPTI_ERROR_NOT_INITIALIZED:
    return {"CUPTI is not initialised",
            "check that libnvperf_host.so and libnvperf_target.so lie beside libcupti.so.13", true};
  case CUPTI_ERROR_OUT_OF_MEMORY:
    return {"there is not enough memory", "free memory of host and GPU", false};
  default:
    return {"the call failed", "check that the driver is at least as new as CUPTI's CUDA release",
            false};
  }
}

} // namespace

std::string name_of(const Functions& cupti, CUptiResult result) {
  const char* text = nullptr;
  if (cupti.cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) {
    return text;
  }
  return fmt::format("CUptiResult {}", static_cast<int>(result));
}

CuptiFailure failure_of(const Functions& cupti, CUptiResult result, const char* call) {
  const Meaning meaning = meaning_of(result);
  return {fmt::format("{}: {} ({})", call, meaning.why, name_of(cupti, result)), meaning.remedy,
          meaning.lasting};
}

void check(const Functions& cupti, CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) {
    throw failure_of(cupti, result, call);
  }
}

} // namespace winnow::profiling::cupti
