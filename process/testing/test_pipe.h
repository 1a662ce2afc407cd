#pragma once

#include "base/error.h"
#include "base/unique_fd.h"

#include <fcntl.h>
#include <poll.h>

namespace winnow::process {

/// A pipe whose write end the children hold. When the last child is gone, the read end reports
/// POLLHUP.
class TestPipe {
public:
  TestPipe() {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) {
      throw Error("pipe2 failed");
    }
    read_.reset(pair[0]);
    write_.reset(pair[1]);
  }
  int write_end() const { return write_.get(); }
  void close_write_end() { write_.reset(); }
  bool all_writers_gone() const {
    constexpr int kWaitMs = 20'000;
    pollfd fd{read_.get(), 0, 0};
    return poll(&fd, 1, kWaitMs) == 1 && (fd.revents & POLLHUP) != 0;
  }

private:
  UniqueFd read_;
  UniqueFd write_;
};

} // namespace winnow::process
