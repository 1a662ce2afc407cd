#pragma once

#include <string>

namespace winnow::evaluators {

/// Captures the output of device code, which GPU drivers write to stdout. The process's stdout
/// becomes a memory file. The real stdout, over which the worker talks to the coordinator, gets
/// another descriptor.
class PrintedText {
public:
  /// Throws Error. If `capture` is false, stdout stays unchanged and take() is always empty.
  explicit PrintedText(bool capture);
  ~PrintedText();
  PrintedText(const PrintedText&) = delete; // owns descriptors
  PrintedText& operator=(const PrintedText&) = delete;

  int protocol_fd() const { return protocol_fd_; }
  /// The text printed since the last call; only the beginning if the text is long.
  std::string take();

private:
  int protocol_fd_;
  int text_fd_ = -1;
};

} // namespace winnow::evaluators
