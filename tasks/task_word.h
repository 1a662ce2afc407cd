#pragma once

#include "tasks/task/task.h"

#include <filesystem>
#include <string>

namespace winnow::tasks {

/// The absolute path of a folder, without a '/' at its end.
std::filesystem::path absolute_folder(const std::filesystem::path& folder);

/// The absolute folder of a task that is not in the catalogue. Empty for a task that is, and for
/// one that has no folder.
std::filesystem::path own_folder(const Task& task);

/// The word that names the task on a command line in the current directory, for a shell: the name
/// of a task of the catalogue, any other task's folder.
std::string task_word(const Task& task);
std::string folder_word(const std::filesystem::path& folder);

} // namespace winnow::tasks
