#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tests {

/// A request as it arrived; header names in lower case.
struct SeenRequest {
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string header(const std::string& name) const; ///< empty when absent
};

/// One scripted answer.
struct FakeReply {
  enum class Fault {
    None,
    NeverAnswer,  ///< accepts the request and says nothing until the server goes
    CloseMidBody, ///< promises more bytes than it sends, then closes
    StallMidBody, ///< sends a first part of the body, then nothing until the server goes
  };
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Fault fault = Fault::None;
};

/// A chat completion with this text; usage is 10 prompt (4 cached) and 5 completion (2 reasoning)
/// tokens.
FakeReply chat_reply(const std::string& text, const std::string& finish_reason = "stop");
/// {"error": {"message", "type", "code"}} with this status.
FakeReply error_reply(int status, const std::string& message, const std::string& type = "error");

/// An HTTP server on 127.0.0.1 with a scripted answer to every POST; it remembers the requests.
class FakeEndpoint {
public:
  /// Called for each request, possibly on several threads at once; `number` counts from 0.
  using Script = std::function<FakeReply(const SeenRequest& request, std::size_t number)>;

  explicit FakeEndpoint(Script script, int port = 0);
  explicit FakeEndpoint(std::vector<FakeReply> replies); ///< in order; the last one repeats
  ~FakeEndpoint();
  FakeEndpoint(const FakeEndpoint&) = delete; // owns a thread and a socket
  FakeEndpoint& operator=(const FakeEndpoint&) = delete;

  std::string base_url() const; ///< "http://127.0.0.1:PORT/v1"
  int port() const;
  std::vector<SeenRequest> requests() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::tests
