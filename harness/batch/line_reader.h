#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

namespace winnow::harness {

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
