#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace winnow {

/// parent/NAME, made if it is not there. Of all folders in `parent`, only the `most` that were
/// asked for last stay. Throws std::filesystem::filesystem_error where it cannot be made.
std::filesystem::path newest_folder(const std::filesystem::path& parent, const std::string& name,
                                    std::size_t most);

} // namespace winnow
