#include "evaluators/device/gpu/gpu_driver.h"

#include <fmt/format.h>

namespace winnow::evaluators {

std::string_view to_string(GpuFailure failure) {
  switch (failure) {
  case GpuFailure::InvalidLaunch:
    return "invalid launch";
  case GpuFailure::IllegalAddress:
    return "illegal address";
  case GpuFailure::Misaligned:
    return "misaligned address";
  case GpuFailure::Assertion:
    return "failed assertion";
  case GpuFailure::Trap:
    return "trap";
  case GpuFailure::CooperativeSize:
    return "cooperative launch too large";
  case GpuFailure::LaunchTimeout:
    return "launch timed out";
  case GpuFailure::OutOfMemory:
    return "out of memory";
  case GpuFailure::BadModule:
    return "bad module";
  case GpuFailure::DeviceLost:
    return "device lost";
  case GpuFailure::Other:
    return "other failure";
  }
  return "unknown failure";
}

GpuError::GpuError(std::string call, std::string code, std::string explanation, GpuFailure failure,
                   bool sticky)
    : Error(fmt::format("{}: {} ({})", call, code, explanation)), failure_(failure),
      sticky_(sticky) {}

} // namespace winnow::evaluators
