#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// One ``` or ~~~ block of a text, without its fence lines.
struct FencedBlock {
  /// First word after the opening fence, in lower case: "cuda", "json"; may be empty.
  std::string language;
  std::string text;
  bool closed = true;    ///< false: the text ends inside the block
  std::size_t begin = 0; ///< of the line with the opening fence
  std::size_t end = 0;   ///< behind the line with the closing fence
};

/// The blocks of a text whose lines end in LF, in order, by the rules of CommonMark and by the
/// habits of models: a fence may stand in a list, in a quote, in bold, and behind words that end in
/// a colon; code may stand on the line of either fence; a block ends where the next one begins. The
/// text of a block leaves out fence lines of blocks nested in it. A markdown block, and one around
/// a block with a plan, is replaced by the blocks inside it.
std::vector<FencedBlock> fenced_blocks(std::string_view text);

} // namespace winnow::agents
