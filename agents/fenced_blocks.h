#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// One ``` or ~~~ block of a reply, without its fence lines; lines end in \n alone.
struct FencedBlock {
  std::string language; ///< first word behind the fence, lower case: "cuda", "json", may be empty
  std::string text;
  bool closed = true; ///< false: the reply ends inside it
};

/// The blocks of a reply in order. A fence inside a block is dropped from its text; blocks inside a
/// markdown block take that one's place; a block that was never closed ends where the next begins.
std::vector<FencedBlock> fenced_blocks(std::string_view reply);

} // namespace winnow::agents
