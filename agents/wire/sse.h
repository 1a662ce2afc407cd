#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::agents {

struct SseEvent {
  std::string name; ///< empty: none was given
  std::string data; ///< the values of its data lines, joined by '\n'
};

/// Server-sent events (WHATWG HTML, 9.2) from bytes in pieces cut anywhere. Lines end in LF, CRLF
/// or CR; comments, "id" and "retry" are skipped.
class SseParser {
public:
  static constexpr std::size_t kMaxEventBytes = 16U << 20U;
  using Take = std::function<void(const SseEvent&)>;

  void feed(std::string_view bytes, const Take& take);
  /// The body has ended: unlike the standard, also takes an event that lacks its empty line.
  void finish(const Take& take);

  bool recognised() const { return recognised_; } ///< there was a line that such a stream has
  bool overflowed() const { return overflowed_; } ///< an event was too large; nothing more is read

private:
  void take_line(const Take& take);
  void take_field(std::string_view line);
  void end_event(const Take& take);

  std::string line_; ///< so far
  SseEvent event_;   ///< so far
  bool has_data_ = false;
  bool first_line_ = true;
  bool after_carriage_return_ = false; ///< a LF that follows ends no line of its own
  bool recognised_ = false;
  bool overflowed_ = false;
};

} // namespace winnow::agents
