#include "harness/mcp/stdio_server.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "harness/mcp/message_lines.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
constexpr int kLookMs = 100; // how often a writer that waits looks whether the server has ended

bool would_wait(ssize_t count) {
  return count < 0 && (errno == EINTR || errno == EAGAIN);
}

} // namespace

StdioServer::StdioServer(int in, int out) : in_(in), out_(out) {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(std::string("pipe2: ") + std::strerror(errno));
  }
  wake_read_.reset(pair[0]);
  wake_write_.reset(pair[1]);
}

StdioServer::End StdioServer::serve(std::size_t most_bytes,
                                    const std::function<void(std::string_view, bool)>& take) {
  MessageLines lines(most_bytes);
  std::array<char, kReadBytes> bytes; // NOLINT(*-member-init): read() fills it
  while (!ended_) {
    // An end of the pipe that nobody reads is POLLERR or POLLHUP without being asked for.
    std::array<pollfd, 3> fds{{{in_, POLLIN, 0}, {out_, 0, 0}, {wake_read_.get(), POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), -1) < 0) {
      continue; // EINTR
    }
    if (fds[0].revents != 0) {
      const ssize_t count = ::read(in_, bytes.data(), bytes.size());
      if (count > 0) {
        lines.add({bytes.data(), static_cast<std::size_t>(count)}, take);
      } else if (!would_wait(count)) {
        lines.finish(take);
        end(End::Closed);
      }
    }
    if (fds[1].revents != 0) {
      end(End::Broken);
    }
  }
  return how_;
}

void StdioServer::send(const nlohmann::json& message) {
  const std::string line = json_line(message) + "\n";
  const std::lock_guard lock(writing_);
  if (!ended_ && !write_all(line)) {
    end(End::Broken);
  }
}

/// Waits for a client that does not read, without missing stop(). False: nobody will read.
bool StdioServer::write_all(std::string_view bytes) {
  while (!bytes.empty() && !ended_) {
    pollfd fd{out_, POLLOUT, 0};
    if (poll(&fd, 1, kLookMs) <= 0) {
      continue;
    }
    // A pipe that is ready has room for so much: the write does not wait.
    const ssize_t count =
        ::write(out_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (!would_wait(count)) {
      return false;
    }
  }
  return true;
}

void StdioServer::stop() {
  end(End::Stopped);
}

void StdioServer::end(End how) {
  if (!ended_.exchange(true)) {
    how_ = how;
    [[maybe_unused]] const ssize_t ignored = ::write(wake_write_.get(), "", 1);
  }
}

} // namespace winnow::harness
