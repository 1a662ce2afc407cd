#pragma once

namespace winnow::tasks {

/// The task.toml of a copy of n floats, without its shapes. It has 17 lines, which tests count.
inline constexpr const char* kCopyTaskToml = R"(title = "Copy"
description = "y = x"
operations = "n"
bytes = "8 * n"
[axes]
n = "elements"
[tensors.x]
role = "input"
dtype = "f32"
shape = ["n"]
[tensors.y]
role = "output"
dtype = "f32"
shape = ["n"]
[tolerance]
precision = "f32"
multiple = "1"
)";

} // namespace winnow::tasks
