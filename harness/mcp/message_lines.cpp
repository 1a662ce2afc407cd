#include "harness/mcp/message_lines.h"

namespace winnow::harness {

void MessageLines::keep(std::string_view bytes) {
  too_long_ = too_long_ || bytes.size() > most_bytes_ - line_.size();
  if (too_long_) {
    line_ = std::string(); // clear() would keep the memory
  } else {
    line_ += bytes;
  }
}

void MessageLines::add(std::string_view bytes, const Take& take) {
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    keep(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    finish(take);
  }
  keep(bytes);
}

void MessageLines::finish(const Take& take) {
  if (!line_.empty() || too_long_) {
    take(line_, too_long_);
  }
  line_.clear();
  too_long_ = false;
}

} // namespace winnow::harness
