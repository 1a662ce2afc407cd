#pragma once

#include <filesystem>
#include <string>

namespace winnow::evaluators {

/// Identifies the embedded device headers; part of every key of the compile cache.
std::string device_headers_digest();

/// Writes the trees `common/` (every device), `cpu/` (the CPU device, with abi.h), `cuda/` (NVRTC)
/// and `hip/` (hiprtc), of which the last three go before common/ in the include path, below
/// `directory`, once: what is complete is left alone. Safe to call from several processes at the
/// same time. Throws Error when it cannot be written.
void write_device_headers(const std::filesystem::path& directory);

} // namespace winnow::evaluators
