#pragma once

#include "base/text/toml_reader.h"
#include "tasks/task/task.h"

namespace winnow::tasks {

/// Reads the generator of a tensor whose dtype is already set. docs/task.md lists the kinds and
/// their keys. Sets `generator` and `generator_extent`. Throws UsageError.
void parse_generator(const TomlReader& table, TensorSpec& tensor);

/// The generator of a floating tensor whose table states none: `normal` with the default ranges.
GeneratorSpec default_generator();

/// The launches of the tensor, which is floating and not static, all have the same distribution.
/// False for a generator whose numbers cannot be ranges.
bool is_fixed(const TensorSpec& tensor);

/// Throws UsageError if the tensor is_fixed(). `table` is that of its generator.
void require_ranges(const TomlReader& table, const TensorSpec& tensor);

} // namespace winnow::tasks
