#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// One ``` or ~~~ block of a reply, without its fence lines. Lines end in LF.
struct FencedBlock {
  /// First word after the opening fence, in lower case: "cuda", "json"; may be empty.
  std::string language;
  std::string text;
  bool closed = true; ///< false: the reply ends inside the block
};

/// The blocks of a reply, in order. The text of a block leaves out fence lines of blocks nested in
/// it. A markdown block is replaced by the blocks inside it. A block without a closing fence ends
/// where the next block begins.
std::vector<FencedBlock> fenced_blocks(std::string_view reply);

} // namespace winnow::agents
