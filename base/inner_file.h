#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace winnow {

/// As read_file(), for a file of a folder that somebody else may have filled. Throws UsageError if
/// links lead from the folder to a file outside of it. The folder itself may be a link.
std::string read_inner_file(const std::filesystem::path& folder, const std::filesystem::path& file,
                            std::uint64_t max_bytes);

} // namespace winnow
