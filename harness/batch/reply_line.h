#pragma once

#include "agents/wire/wire_format.h"

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::harness {

/// Decodes one line of replies. Three forms are accepted: a line of a provider's batch output;
/// {"custom_id","reply"} with any other member of a recorded call; a recorded call. The id may be a
/// call's key. usage_known is false if the source counted no tokens. Throws Error with the expected
/// form.
agents::BatchAnswer decode_reply_line(std::string_view line);

/// Reads a stream line by line, numbered from 1. Skips the text of a line that is too long, so that
/// no line can fill the memory.
class LineReader {
public:
  struct Line {
    std::size_t number = 0;
    std::string text; ///< without its newline; empty if the line is too long
    bool too_long = false;
  };

  LineReader(std::istream& in, std::size_t max_bytes) : in_(in), max_bytes_(max_bytes) {}
  std::optional<Line> next(); ///< nullopt at the end

private:
  std::istream& in_;
  std::size_t max_bytes_;
  std::size_t number_ = 0;
};

} // namespace winnow::harness
