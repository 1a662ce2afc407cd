#pragma once

#include "base/unique_fd.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Messages of a client, one a line, through two file descriptors, which it does not own. The
/// program must ignore SIGPIPE.
class StdioServer {
public:
  /// Throws Error.
  StdioServer(int in, int out);

  enum class End { Closed, Stopped, Broken }; ///< the client closed its end; stop(); nobody reads

  /// Reads lines of at most `most_bytes` until the client or stop() ends it.
  End serve(std::size_t most_bytes, const std::function<void(std::string_view, bool)>& take);
  /// Writes a message. Of any thread. After the end it does nothing.
  void send(const nlohmann::json& message);
  /// Ends serve(), and a send() that waits for the client. Of any thread.
  void stop();

private:
  bool write_all(std::string_view bytes);
  void end(End how);

  int in_, out_;
  UniqueFd wake_read_, wake_write_;
  std::mutex writing_;
  std::atomic<bool> ended_{false};
  std::atomic<End> how_{End::Closed};
};

} // namespace winnow::harness
