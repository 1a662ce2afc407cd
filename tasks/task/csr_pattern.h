#pragma once

#include "base/text/toml_reader.h"
#include "tasks/task/task.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// Reads the keys of `csr_rows` or `csr_columns` that describe the matrix, and adds their names to
/// `keys`. Throws UsageError.
CsrPattern parse_csr_pattern(const TomlReader& generator, const TensorSpec& tensor, bool is_rows,
                             std::vector<std::string>& keys);

/// Gives each tensor with the generator `csr_columns` the matrix of its tensor of row pointers.
/// `table` holds the tables of all tensors. Throws UsageError if there is no such tensor.
void link_csr_columns(const TomlReader& table, std::vector<TensorSpec>& tensors);

/// Sets `spec.csr` at one shape. `scope` has the axes. Throws ExpressionError if the sizes of the
/// matrix and of the tensor do not fit.
void resolve_csr(const TensorSpec& tensor, const Shape& shape, const Scope& scope,
                 GeneratorSpec& spec);

} // namespace winnow::tasks
