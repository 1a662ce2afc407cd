#pragma once

#include <string_view>

namespace winnow::tasks {

/// Whether `text` has the form of a compile target: "sm_90a", "gfx90a"; or is empty: none. It may
/// stand in commands and programs then.
bool is_architecture(std::string_view text);

/// 90 for "sm_90a"; 0: not an architecture of NVIDIA.
int compute_capability(std::string_view architecture);

} // namespace winnow::tasks
