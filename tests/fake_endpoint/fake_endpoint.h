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

/// US dollars per million tokens. The server keeps its account with these prices.
struct FakePrice {
  double input = 2;
  double cached_input = 0.5;
  double output = 8;
  double dollars(const Usage& usage) const;
};

/// An answer that the server sent, and the cost that the client could read in it.
struct AnsweredCall {
  std::string key, model; ///< from the request; question.h says where each format has the key
  bool whole = false;     ///< the whole answer was sent
  Usage usage;            ///< as far as the answer contained it
  double dollars = 0;     ///< Answer::dollars, or computed with FakePrice
};

struct FakeEndpointOptions {
  HttpServer::Options server;
  FakePrice price;
  /// Called on the server's thread before the last bytes of an answer are written; may be empty.
  std::function<void(const AnsweredCall&)> on_answer;
  bool keep_requests = true; ///< false for benchmarks
};

/// A server on 127.0.0.1 that answers from a script. It speaks chat completions, responses,
/// Anthropic messages and Gemini's generateContent under the providers' paths, and streams if the
/// request asks for it. A request that a provider would refuse (unknown path, no max_tokens for
/// Anthropic) gets HTTP 404 or 400 instead of the script's reply. The server remembers the
/// requests.
class FakeEndpoint {
public:
  /// Called for each request, on the server's thread; `number` counts from 0.
  using Script = std::function<FakeReply(const SeenRequest& request, std::size_t number)>;
  using Options = FakeEndpointOptions;

  explicit FakeEndpoint(Script script, Options options = {});
  /// In this order; the last one is repeated.
  explicit FakeEndpoint(std::vector<FakeReply> replies);
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
