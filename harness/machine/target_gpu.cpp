#include "harness/machine/target_gpu.h"

#include "base/error.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/device/vendors/named_gpus.h"

#include <fmt/format.h>

namespace winnow::harness {

TargetGpu target_gpu(const std::string& device, const std::string& gpu,
                     const std::string& architecture) {
  if (!gpu.empty()) {
    TargetGpu target{evaluators::named_gpu(gpu), true};
    if (device != "best" && device != target.device.kind) {
      throw UsageError(fmt::format("--gpu {} is a GPU of the kind {}, not a device {}", gpu,
                                   target.device.kind, device),
                       "leave --device out");
    }
    if (!architecture.empty()) {
      throw UsageError("--arch and --gpu exclude each other: a model has one architecture",
                       "leave one of them out");
    }
    return target;
  }
  const std::string kind = device == "best" ? "cuda" : device;
  const evaluators::GpuVendor* vendor = evaluators::find_gpu_vendor(kind);
  if (vendor == nullptr) {
    throw UsageError(fmt::format("'{}' is no kind of GPU", kind), "take --device cuda or hip");
  }
  return {evaluators::gpu_of_architecture(
              kind, architecture.empty() ? std::string(vendor->usual_architecture) : architecture),
          false};
}

} // namespace winnow::harness
