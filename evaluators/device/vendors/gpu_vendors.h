#pragma once

#include "evaluators/device/gpu/gpu_vendor.h"

#include <span>
#include <string_view>

namespace winnow::evaluators {

/// The vendors whose GPUs Winnow can use.
std::span<const GpuVendor* const> gpu_vendors();
/// nullptr: devices of this kind ("cpu") are no GPUs.
const GpuVendor* find_gpu_vendor(std::string_view kind);
/// The vendor of this kind of GPU ("cuda"). Throws Error for any other kind.
const GpuVendor& gpu_vendor(std::string_view kind);

} // namespace winnow::evaluators
