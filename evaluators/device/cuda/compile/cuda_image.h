#pragma once

#include "evaluators/device/gpu/compile/gpu_image.h"

namespace winnow::evaluators {

/// What a cubin states. See GpuVendor::read_image.
void read_cuda_image(const CompiledImage& image, GpuImageFacts& facts);

} // namespace winnow::evaluators
