#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

/// A fence in a line of text, and what else the line has.
struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::size_t indent = 0; ///< of the block's lines
  int quotes = 0;         ///< the lines of the block begin with so many '>'
  std::string language;   ///< in lower case
  bool bare = true;       ///< nothing behind the marks: the line may close a block
  std::string_view code;  ///< that begins behind an opening fence
};

/// The fence with which the line may open a block.
std::optional<Fence> opening_fence(std::string_view line);

/// A fence that may close a block of `open`, with the code before it; or nullopt. Words behind the
/// marks are prose, unless they name a language: then the line opens a nested block.
struct ClosingFence {
  std::string_view code;
};
std::optional<ClosingFence> closing_fence(std::string_view line, const Fence& open);

/// The line without the '>' of a quote, where the block's lines have one.
std::string_view without_quote(std::string_view line, const Fence& open);

} // namespace winnow::agents
