#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A compiled GPU module as the cache keeps it: one line of JSON (what is in it), then the image.
struct GpuModuleFile {
  std::string architecture;                   ///< "sm_90a", "gfx90a"
  std::map<std::string, std::string> symbols; ///< plan's name "softmax<128>" to the image's symbol
  std::vector<std::byte> image;               ///< a cubin or a code object
};

/// The bytes of a module file.
std::string encode(const GpuModuleFile& module);
/// Throws Error when they are not one (they come from a compiler that a candidate has fed).
GpuModuleFile decode_gpu_module(std::string_view bytes);
/// decode_gpu_module() of a whole file; also throws Error when it cannot be read.
GpuModuleFile read_gpu_module(const std::filesystem::path& path);

} // namespace winnow::evaluators
