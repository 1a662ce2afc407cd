#pragma once

#include "tasks/task/task.h"

#include <string>
#include <string_view>

namespace winnow::tasks {

/// Where task.toml states the value of a top-level key such as "bytes": "FOLDER/task.toml:5:9".
std::string place_of_key(const Task& task, std::string_view key);
/// Where task.toml states the tensor.
std::string place_of_tensor(const Task& task, std::string_view name);
/// Where task.toml states the shape.
std::string place_of_shape(const Task& task, const Shape& shape);

} // namespace winnow::tasks
