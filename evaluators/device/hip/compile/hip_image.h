#pragma once

#include "evaluators/device/gpu/compile/gpu_image.h"

namespace winnow::evaluators {

/// What an AMD code object states. See GpuVendor::read_image.
void read_hip_image(const CompiledImage& image, GpuImageFacts& facts);

} // namespace winnow::evaluators
