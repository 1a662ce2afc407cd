#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace winnow::tasks {

/// As read_file(), for a file of a task folder that somebody else may have filled. Throws
/// UsageError if links lead from the folder to a file that is neither in it nor in Winnow's own
/// catalogue. The folder itself may be a link.
std::string read_task_file(const std::filesystem::path& folder, const std::filesystem::path& file,
                           std::uint64_t max_bytes);

} // namespace winnow::tasks
