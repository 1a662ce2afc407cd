#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/http_request.h"
#include "tests/fake_endpoint/http_server.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace winnow::tests {

/// US dollars per million tokens, by which the server keeps its account.
struct FakePrice {
  double input = 2;
  double cached_input = 0.5;
  double output = 8;
  double dollars(const Usage& usage) const;
};

/// An answer that left the server, and what it told its client it costs.
struct AnsweredCall {
  std::string key, model; ///< as asked; see question.h for where the formats have the key
  bool whole = false;     ///< nothing of it was held back
  Usage usage;            ///< as far as it was said
  double dollars = 0;     ///< Answer::dollars or by FakePrice
};

struct FakeEndpointOptions {
  HttpServer::Options server;
  FakePrice price;
  /// Called on the server's thread before an answer's last bytes are written; may be empty.
  std::function<void(const AnsweredCall&)> on_answer;
  bool keep_requests = true; ///< false for benchmarks
};

/// A server on 127.0.0.1 that speaks chat completions, responses, Anthropic messages and Gemini's
/// generateContent under their providers' paths, streaming when asked to, and answers from a
/// script. Requests that a provider would refuse (no such path, no max_tokens for Anthropic) get
/// HTTP 404 or 400 in place of the script's reply. It remembers the requests.
class FakeEndpoint {
public:
  /// Called for each request, on the server's thread; `number` counts from 0.
  using Script = std::function<FakeReply(const SeenRequest& request, std::size_t number)>;
  using Options = FakeEndpointOptions;

  explicit FakeEndpoint(Script script, Options options = {});
  explicit FakeEndpoint(std::vector<FakeReply> replies); ///< in order; the last one repeats
  ~FakeEndpoint();
  FakeEndpoint(const FakeEndpoint&) = delete; // owns a thread and a socket
  FakeEndpoint& operator=(const FakeEndpoint&) = delete;

  std::string base_url() const; ///< "http://127.0.0.1:PORT/v1"
  std::string origin() const;   ///< "http://127.0.0.1:PORT"
  int port() const;
  std::vector<SeenRequest> requests() const;
  std::vector<AnsweredCall> answered() const;
  std::size_t connections() const; ///< accepted so far

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::tests
