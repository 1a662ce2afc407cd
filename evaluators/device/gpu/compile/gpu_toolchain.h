#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// A run-time compiler as the coordinator has found it, for the child that uses it.
struct GpuToolchain {
  std::string kind;    ///< "cuda", "hip"
  std::string version; ///< "NVRTC 13.0"
  std::string prelude; ///< header of ours that goes first
  std::filesystem::path library;
  std::filesystem::path builtins;                         ///< of NVRTC; may be empty
  std::vector<std::filesystem::path> include_directories; ///< the vendor's
  std::vector<std::filesystem::path> readable;            ///< what else the child must open
};

/// Throws Error, with what to install, when there is none, or when it does not know `architecture`.
GpuToolchain find_gpu_toolchain(const std::string& kind, const std::string& architecture);

void to_json(nlohmann::json& json, const GpuToolchain& toolchain);
void from_json(const nlohmann::json& json, GpuToolchain& toolchain); ///< throws nlohmann exceptions

} // namespace winnow::evaluators
