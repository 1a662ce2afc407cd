// Replaces the CUDA adapter in a program that was built without cuda.h.
#include "evaluators/device/cuda/cuda_driver.h"

namespace winnow::evaluators {
namespace {

constexpr const char* kWhy = "this program was built without CUDA headers";
constexpr const char* kRemedy = "install the CUDA toolkit (cuda.h), configure and build again";

} // namespace

std::unique_ptr<GpuDriver> open_cuda_driver(int /*ordinal*/) {
  throw DeviceUnavailable(kWhy, kRemedy);
}

std::vector<DeviceReport> probe_cuda_devices() {
  return {no_device("cuda", kWhy, kRemedy)};
}

} // namespace winnow::evaluators
