#pragma once

#include "base/text/toml_reader.h"
#include "tasks/expression/expression.h"
#include "tasks/inputs/dtype.h"

#include <string_view>
#include <vector>

namespace winnow::tasks {

// Values of task files that a TomlReader does not know. They throw as it does.

DType read_dtype(const TomlReader& table, std::string_view key);
Expression read_expression(const TomlReader& table, std::string_view key);
std::vector<Expression> read_expressions(const TomlReader& table, std::string_view key);

} // namespace winnow::tasks
