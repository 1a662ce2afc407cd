#pragma once

#include <cstddef>
#include <string_view>

namespace winnow::agents {

/// The begin and end of the plan comment "/*@winnow ... */". npos: the comment does not exist, or
/// is not closed.
struct PlanComment {
  std::size_t begin = std::string_view::npos;
  std::size_t end = std::string_view::npos;
  bool exists() const { return begin != std::string_view::npos; }
  bool closed() const { return end != std::string_view::npos; }
};
PlanComment find_plan(std::string_view text);

} // namespace winnow::agents
