#pragma once

#include "tasks/task.h"
#include "tasks/toml_reader.h"

namespace winnow::tasks {

/// The generator of a tensor that a table of task.toml states: docs/task.md has the kinds and their
/// keys. Throws UsageError.
GeneratorSpec parse_generator(const TomlReader& table);

} // namespace winnow::tasks
