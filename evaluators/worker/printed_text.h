#pragma once

#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace winnow::evaluators {

/// Captures the output of device code, which GPU drivers write to stdout. The process's stdout
/// becomes a memory file. The real stdout, over which the worker talks to the coordinator, gets
/// another descriptor.
class PrintedText {
public:
  /// Throws Error. If `capture` is false, stdout stays unchanged and take() is always empty.
  explicit PrintedText(bool capture) : protocol_fd_(STDOUT_FILENO) {
    if (!capture) {
      return;
    }
    protocol_fd_ = dup(STDOUT_FILENO);
    text_fd_ = memfd_create("winnow-printed", MFD_CLOEXEC);
    if (protocol_fd_ < 0 || text_fd_ < 0) {
      fail("memfd_create");
    }
    if (dup2(text_fd_, STDOUT_FILENO) < 0) {
      fail("dup2");
    }
  }
  ~PrintedText() {
    if (text_fd_ >= 0) {
      close(text_fd_);
      close(protocol_fd_);
    }
  }
  PrintedText(const PrintedText&) = delete; // owns descriptors
  PrintedText& operator=(const PrintedText&) = delete;

  int protocol_fd() const { return protocol_fd_; }
  /// The text printed since the last call; only the beginning if the text is long.
  std::string take() {
    if (text_fd_ < 0) {
      return {};
    }
    std::fflush(stdout);
    std::string text(kMaxBytes, '\0');
    const ssize_t count = pread(text_fd_, text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (ftruncate(text_fd_, 0) != 0 || lseek(STDOUT_FILENO, 0, SEEK_SET) < 0) {
      fail("ftruncate");
    }
    return text;
  }

private:
  static constexpr std::size_t kMaxBytes = 2000;

  [[noreturn]] static void fail(const char* call) {
    throw Error(std::string(call) + ": " + std::strerror(errno));
  }

  int protocol_fd_;
  int text_fd_ = -1;
};

} // namespace winnow::evaluators
