#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::tasks {

/// Marks the places of a skeleton that the author of a task has to fill.
inline constexpr const char* kToDo = "TO DO";

/// Writes the files of a task to begin with into the new folder `folder`: a sum over rows and one
/// result for each element, with "TO DO" at every place to fill. The task loads once its title and
/// its description are written. Returns the files, relative to `folder`. Throws UsageError if the
/// folder exists or its name is no name for a task, Error if a file cannot be written.
std::vector<std::string> write_skeleton(const std::filesystem::path& folder);

} // namespace winnow::tasks
