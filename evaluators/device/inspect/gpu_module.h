#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A compiled GPU module in the cache: one line of JSON with architecture and symbols, then the
/// image.
struct GpuModuleFile {
  std::string architecture; ///< "sm_90a", "gfx90a"
  /// From the plan's name "softmax<128>" to the image's symbol.
  std::map<std::string, std::string> symbols;
  std::vector<std::byte> image; ///< a cubin or a code object
};

/// The bytes of a module file.
std::string encode(const GpuModuleFile& module);
/// Throws Error when `bytes` is not a module file. The bytes come from a compiler that read a
/// candidate.
GpuModuleFile decode_gpu_module(std::string_view bytes);
/// decode_gpu_module() for a file, or for the module of a CacheEntry. Also throws Error when the
/// file cannot be read.
GpuModuleFile read_gpu_module(const std::filesystem::path& path);

} // namespace winnow::evaluators
