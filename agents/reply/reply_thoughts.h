#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// A reply without its marks. The parts of the answer are what stands before, between and after the
/// thoughts.
struct SeparatedReply {
  std::vector<std::string> parts; ///< without empty ones
  std::string reasoning;
  std::string open_thoughts; ///< the mark of thoughts that the reply ends in: "<think>"
};

/// Separates thoughts and answer. Thoughts stand between two marks, in a channel that is not the
/// final one, and before a closing mark without an opening one if an answer follows. Marks inside
/// the code of the answer are text. Appends to `repairs`.
SeparatedReply separate_thoughts(std::string_view text, std::vector<std::string>& repairs);

} // namespace winnow::agents
