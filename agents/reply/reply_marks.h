// The marks that chat templates and models put around and between the parts of a reply.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace winnow::agents {

struct ReplyMark {
  enum class Kind : std::uint8_t {
    Open,    ///< thoughts begin: <think>, [THINK], <|begin_of_thought|>, ...
    Close,   ///< thoughts end
    Channel, ///< a channel of thoughts begins: it ends where the next channel or turn does
    Final,   ///< the channel of the answer begins
    Answer,  ///< the answer begins: <answer>, <output>, ...
    Turn,    ///< the turn ends: <|im_end|>, </s>, ...
    Other,   ///< any other mark: it counts for nothing
  };
  Kind kind = Kind::Other;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool begins_line = false; ///< only spaces and other marks stand before it on its line
  bool alone = false;       ///< ... and only spaces behind it
  bool commented = false;   ///< "//" stands before it on its line
};

/// The marks of a text, in order. Marks in inline code or between quotes are text. Takes time in
/// proportion to the length of the text.
std::vector<ReplyMark> find_reply_marks(std::string_view text);

} // namespace winnow::agents
