#pragma once

#include "evaluators/device/gpu/gpu_driver.h"

namespace winnow::evaluators::cuda {

/// The meaning of a CUresult other than 0. Sources: the comments at CUresult in cuda.h, and "CUDA
/// Driver API", Data types, CUresult.
ErrorClass classify(int result);

} // namespace winnow::evaluators::cuda
