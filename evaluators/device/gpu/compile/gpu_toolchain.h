#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// A run-time compiler that the coordinator found, described for the child that uses it.
struct GpuToolchain {
  std::string kind;    ///< GpuVendor::kind
  std::string version; ///< "NVRTC 13.0"
  std::string prelude; ///< Winnow's header that goes first
  std::filesystem::path library;
  std::filesystem::path builtins; ///< the library loads this file by name; may be empty
  std::vector<std::filesystem::path> include_directories; ///< the vendor's headers
  std::vector<std::filesystem::path> readable; ///< further files that the child must open
};

/// For cache keys.
void to_json(nlohmann::json& json, const GpuToolchain& toolchain);

} // namespace winnow::evaluators
