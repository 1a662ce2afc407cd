#pragma once

#include "evaluators/device/gpu/gpu_library.h"

#include <memory>
#include <string>

namespace winnow::evaluators {

/// The GpuLibraryOpener of CUDA devices. "cublaslt" is libcublasLt.so.13 or .12, from the loader's
/// path or from the toolkit's folder (/usr/local/cuda*/lib64). The first call loads the library; it
/// is never unloaded.
std::unique_ptr<GpuLibrary> open_cuda_library(const std::string& name, GpuDriver& driver);

} // namespace winnow::evaluators
