#include "evaluators/worker/printed_text.h"

#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxBytes = 2000;

[[noreturn]] void fail(const char* call) {
  throw Error(std::string(call) + ": " + std::strerror(errno));
}

} // namespace

PrintedText::PrintedText(bool capture) : protocol_fd_(STDOUT_FILENO) {
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

PrintedText::~PrintedText() {
  if (text_fd_ >= 0) {
    close(text_fd_);
    close(protocol_fd_);
  }
}

std::string PrintedText::take() {
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

} // namespace winnow::evaluators
