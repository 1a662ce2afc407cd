#pragma once

#include "base/text/toml_reader.h"
#include "tasks/task.h"

namespace winnow::tasks {

/// Reads the generator of a tensor whose dtype is already set. docs/task.md lists the kinds and
/// their keys. Sets `generator` and `generator_extent`. Throws UsageError.
void parse_generator(const TomlReader& table, TensorSpec& tensor);

} // namespace winnow::tasks
