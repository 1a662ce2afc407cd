#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/cuda/cuda_functions.h"

#include <array>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using cuda::check;
using cuda::Functions;

std::string pci_bus_id_of(const Functions& cuda, CUdevice device) {
  std::array<char, 32> id{};
  check(cuda.cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device),
        "cuDeviceGetPCIBusId");
  return id.data();
}

GpuProbe probe(const Functions& cuda, int ordinal) {
  GpuProbe found;
  found.ordinal = ordinal;
  found.driver = cuda::version_text(cuda.driver_version);
  try {
    CUdevice device = 0;
    check(cuda.cuDeviceGet(&device, ordinal), "cuDeviceGet");
    found.name = cuda::name_of(cuda, device);
    found.uuid = cuda::uuid_of(cuda, device);
    found.pci_bus_id = pci_bus_id_of(cuda, device);
    found.facts = cuda::facts_of(cuda, device);
    found.availability = Availability::yes(
        fmt::format("{}, {}, driver for {}", found.name, found.facts.architecture, found.driver));
  } catch (const GpuError& error) {
    found.availability = Availability::no(error.what(), "check `nvidia-smi`");
  }
  return found;
}

GpuProbe nothing(const std::string& why, const std::string& remedy) {
  GpuProbe none;
  none.availability = Availability::no(why, remedy);
  return none;
}

} // namespace

std::vector<GpuProbe> probe_cuda_devices() {
  try {
    const Functions& cuda = cuda::functions();
    int count = 0;
    check(cuda.cuDeviceGetCount(&count), "cuDeviceGetCount");
    std::vector<GpuProbe> found;
    found.reserve(static_cast<std::size_t>(count) + 1);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      found.push_back(probe(cuda, ordinal));
    }
    if (found.empty()) {
      found.push_back(
          nothing("the CUDA driver sees no GPU", "check `nvidia-smi` and CUDA_VISIBLE_DEVICES"));
    }
    return found;
  } catch (const Error& error) { // no driver, or the driver fails
    return {nothing(error.what(), error.remedy())};
  }
}

} // namespace winnow::evaluators
