#include "evaluators/device/vendors/gpu_vendors.h"

#include "base/error.h"
#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/hip/hip_driver.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace winnow::evaluators {
namespace {

constexpr const GpuVendor* kVendors[] = {&kCudaVendor, &kHipVendor};

} // namespace

std::span<const GpuVendor* const> gpu_vendors() {
  return kVendors;
}

const GpuVendor* find_gpu_vendor(std::string_view kind) {
  const auto* found =
      std::find_if(std::begin(kVendors), std::end(kVendors),
                   [kind](const GpuVendor* vendor) { return vendor->kind == kind; });
  return found == std::end(kVendors) ? nullptr : *found;
}

const GpuVendor& gpu_vendor(std::string_view kind) {
  const GpuVendor* vendor = find_gpu_vendor(kind);
  if (vendor == nullptr) {
    throw Error("there is no GPU of the kind '" + std::string(kind) + "'");
  }
  return *vendor;
}

} // namespace winnow::evaluators
