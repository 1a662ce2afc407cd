#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/cuda/cuda_functions.h"

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using cuda::check;
using cuda::Functions;

DeviceReport probe(const Functions& cuda, int ordinal) {
  DeviceReport found;
  found.kind = "cuda";
  found.id = fmt::format("cuda:{}", ordinal);
  found.driver = cuda::version_text(cuda.driver_version);
  try {
    CUdevice device = 0;
    check(cuda.cuDeviceGet(&device, ordinal), "cuDeviceGet");
    found.name = cuda::name_of(cuda, device);
    found.uuid = cuda::uuid_of(cuda, device);
    found.facts = cuda::facts_of(cuda, device);
    found.availability = Availability::yes(
        fmt::format("{}, {}, driver for {}", found.name, found.facts.architecture, found.driver));
  } catch (const GpuError& error) {
    found.availability = Availability::no(error.what(), "check `nvidia-smi`");
  }
  return found;
}

} // namespace

std::vector<DeviceReport> probe_cuda_devices() {
  try {
    const Functions& cuda = cuda::functions();
    int count = 0;
    check(cuda.cuDeviceGetCount(&count), "cuDeviceGetCount");
    std::vector<DeviceReport> found;
    found.reserve(static_cast<std::size_t>(count) + 1);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      found.push_back(probe(cuda, ordinal));
    }
    if (found.empty()) {
      found.push_back(no_device("cuda", "the CUDA driver sees no GPU",
                                "check `nvidia-smi` and CUDA_VISIBLE_DEVICES"));
    }
    return found;
  } catch (const Error& error) { // no driver, or the driver fails
    return {no_device("cuda", error.what(), error.remedy())};
  }
}

} // namespace winnow::evaluators
