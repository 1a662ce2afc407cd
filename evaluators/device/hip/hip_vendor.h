#pragma once

#include "evaluators/device/gpu/gpu_vendor.h"

namespace winnow::evaluators {

extern const GpuVendor kHipVendor;

} // namespace winnow::evaluators
