#include "agents/wire/sse.h"

namespace winnow::agents {
namespace {

constexpr std::string_view kStreamByteOrderMark = "\xEF\xBB\xBF";

} // namespace

void SseParser::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty() && !overflowed_) {
    if (after_carriage_return_) {
      after_carriage_return_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (line_.size() + event_.data.size() > kMaxEventBytes) {
      overflowed_ = true;
      return;
    }
    if (end == std::string_view::npos) {
      return;
    }
    after_carriage_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(take);
  }
}

void SseParser::finish(const Take& take) {
  if (overflowed_) {
    return;
  }
  if (!line_.empty()) {
    take_line(take);
  }
  end_event(take);
}

void SseParser::take_line(const Take& take) {
  std::string_view line = line_;
  if (first_line_ && line.starts_with(kStreamByteOrderMark)) {
    line.remove_prefix(kStreamByteOrderMark.size());
  }
  first_line_ = false;
  if (line.empty()) {
    end_event(take);
  } else {
    take_field(line);
  }
  line_.clear();
}

void SseParser::take_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value;
  if (colon != std::string_view::npos) {
    value = line.substr(colon + 1);
    value.remove_prefix(value.starts_with(' ') ? 1 : 0);
  }
  if (field == "data") {
    if (has_data_) {
      event_.data += '\n';
    }
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.name = value;
  } else if (!field.empty() && field != "id" && field != "retry") {
    return;
  }
  recognised_ = true;
}

void SseParser::end_event(const Take& take) {
  if (has_data_) {
    take(event_);
  }
  event_ = {};
  has_data_ = false;
}

} // namespace winnow::agents
