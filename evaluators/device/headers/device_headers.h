#pragma once

#include <filesystem>
#include <string>

namespace winnow::evaluators {

/// Hash of the embedded device headers. Part of every key of the compile cache.
std::string device_headers_digest();

/// Writes the device headers below `directory`: `common/` (every device), `cpu/` (the CPU device,
/// with abi.h), `cuda/` (NVRTC) and `hip/` (hiprtc). The include path has the device's own tree
/// first, then common/. Does nothing if the headers are complete already. Safe to call from several
/// processes at the same time. Throws Error when the headers cannot be written.
void write_device_headers(const std::filesystem::path& directory);

} // namespace winnow::evaluators
