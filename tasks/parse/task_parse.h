#pragma once

#include "tasks/task/task.h"

#include <filesystem>
#include <string>

namespace winnow::tasks {

/// Loads and validates one folder. Throws UsageError ("file:line:column: what; expected ...") for
/// unknown keys (with the nearest match), wrong types, expressions that do not parse, a shape
/// without one of the axes, an empty tensor, a tensor over 2^40 elements, and missing files.
Task load_task(const std::filesystem::path& folder);
/// As load_task(), from texts. `file` is the name of task.toml in messages. Leaves name, category
/// and folder empty.
Task parse_task(TaskTexts texts, const std::string& file);

} // namespace winnow::tasks
