#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

namespace winnow::harness {

struct ServerAnswer {
  int status = 0;
  std::string body;
  int retry_after_s = 0; ///< 0: not said
};

/// A way to a `winnow serve`. For one thread.
class ServerConnection {
public:
  virtual ~ServerConnection() = default;
  /// Waits for the answer, at most a little longer than `most`. Throws Error with the remedy if
  /// nobody answers, or after a request to stop.
  virtual ServerAnswer ask(const std::string& method, const std::string& target,
                           const std::string& body, std::chrono::seconds most,
                           const std::stop_token& stop) = 0;
};

/// `server`: "http://HOST:PORT", the path of a Unix socket, or the folder of a mailbox
/// (harness/mailbox/mailbox.h). `token`: may be empty. Nothing is asked yet. Throws UsageError if
/// the text names none of these.
std::unique_ptr<ServerConnection> connection_to(const std::string& server,
                                                const std::string& token);

} // namespace winnow::harness
