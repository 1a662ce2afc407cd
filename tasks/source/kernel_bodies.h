#pragma once

#include <string>
#include <string_view>

namespace winnow::tasks {

/// The kernel file with `statement` at the top of each kernel. Declarations stay as they are.
std::string begin_kernels_with(std::string kernel_file, std::string_view statement);

} // namespace winnow::tasks
