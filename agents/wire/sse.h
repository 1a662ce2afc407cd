#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::agents {

struct SseEvent {
  std::string name; ///< empty: the event has no name
  std::string data; ///< the values of its data lines, joined by '\n'
};

/// Parses server-sent events (WHATWG HTML, 9.2) from bytes that are cut at any place. Lines end in
/// LF, CRLF or CR. Comments, "id" and "retry" are skipped.
class SseParser {
public:
  static constexpr std::size_t kMaxEventBytes = 16U << 20U;
  using Take = std::function<void(const SseEvent&)>;

  void feed(std::string_view bytes, const Take& take);
  /// The body has ended. Unlike the standard, this also takes a last event without its empty line.
  void finish(const Take& take);

  /// Whether at least one line of the form of a stream came.
  bool recognised() const { return recognised_; }
  bool overflowed() const { return overflowed_; } ///< an event was too large; no more input is read

private:
  void take_line(const Take& take);
  void take_field(std::string_view line);
  void end_event(const Take& take);

  std::string line_; ///< the current line so far
  SseEvent event_;   ///< the current event so far
  bool has_data_ = false;
  bool first_line_ = true;
  bool after_carriage_return_ = false; ///< a LF that follows belongs to the same line end
  bool recognised_ = false;
  bool overflowed_ = false;
};

} // namespace winnow::agents
