#include "evaluators/device/inspect/gpu_module.h"

#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/inspect/cache_entry.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

constexpr int kFormatVersion = 3;
// A module, and 1 MiB for the answer of its CacheEntry
constexpr std::uint64_t kMaxModuleFileBytes = std::uint64_t{65} << 20U;
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxArchitectureBytes = 64;

[[noreturn]] void refuse(const std::string& what) {
  throw Error("the file is not a GPU module: " + what,
              "delete the compile cache and compile again");
}

// A driver gets these names, so they must not be empty or have control characters.
bool printable(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isprint(static_cast<unsigned char>(c)) != 0;
  });
}

GpuModuleFile read_header(std::string_view header, std::size_t image_bytes) {
  GpuModuleFile module;
  try {
    const auto json = nlohmann::json::parse(header);
    if (json.at("winnow_gpu_module").get<int>() != kFormatVersion) {
      refuse("it has another format version");
    }
    json.at("architecture").get_to(module.architecture);
    json.at("symbols").get_to(module.symbols);
    if (json.at("image_bytes").get<std::uint64_t>() != image_bytes) {
      refuse("its image is cut off");
    }
  } catch (const nlohmann::json::exception& error) {
    refuse(error.what());
  }
  return module;
}

} // namespace

std::string encode(const GpuModuleFile& module) {
  const nlohmann::json header{{"winnow_gpu_module", kFormatVersion},
                              {"architecture", module.architecture},
                              {"symbols", module.symbols},
                              {"image_bytes", module.image.size()}};
  std::string bytes = header.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  bytes.append(reinterpret_cast<const char*>(module.image.data()), module.image.size());
  return bytes;
}

GpuModuleFile decode_gpu_module(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kMaxHeaderBytes).find('\n');
  if (end == std::string_view::npos) {
    refuse("it has no header line");
  }
  const std::string_view image = bytes.substr(end + 1);
  GpuModuleFile module = read_header(bytes.substr(0, end), image.size());
  if (!printable(module.architecture) || module.architecture.size() > kMaxArchitectureBytes) {
    refuse("the name of its architecture is not valid");
  }
  for (const auto& [kernel, symbol] : module.symbols) {
    if (!printable(symbol)) {
      refuse("the symbol of a kernel is not valid");
    }
  }
  if (image.empty()) {
    refuse("it has no image");
  }
  const auto* begin = reinterpret_cast<const std::byte*>(image.data());
  module.image.assign(begin, begin + image.size());
  return module;
}

GpuModuleFile read_gpu_module(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMaxModuleFileBytes);
  try {
    return decode_gpu_module(module_part(bytes));
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what(), error.remedy());
  }
}

} // namespace winnow::evaluators
