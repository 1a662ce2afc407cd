#include "harness/batch/line_reader.h"

namespace winnow::harness {

std::optional<LineReader::Line> LineReader::next() {
  std::streambuf& bytes = *in_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int byte = bytes.sbumpc();
  if (byte == kEnd) {
    return std::nullopt;
  }
  Line line;
  line.number = ++number_;
  for (; byte != kEnd && byte != '\n'; byte = bytes.sbumpc()) {
    if (line.text.size() == max_bytes_) {
      line.too_long = true;
    } else {
      line.text += static_cast<char>(byte);
    }
  }
  if (line.too_long) {
    line.text = {};
  }
  return line;
}

} // namespace winnow::harness
