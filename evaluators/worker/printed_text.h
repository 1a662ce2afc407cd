#pragma once

#include <string>

namespace winnow::evaluators {

/// GPU drivers write what device code prints to stdout. This turns the process's stdout into a
/// memory file and keeps the real one, the worker's line to the coordinator, under another number.
class PrintedText {
public:
  /// Throws Error. `capture` false: nothing is changed and take() is always empty.
  explicit PrintedText(bool capture);
  ~PrintedText();
  PrintedText(const PrintedText&) = delete; // owns descriptors
  PrintedText& operator=(const PrintedText&) = delete;

  int protocol_fd() const { return protocol_fd_; }
  /// What was printed since the last call, its beginning only when it is long.
  std::string take();

private:
  int protocol_fd_;
  int text_fd_ = -1;
};

} // namespace winnow::evaluators
