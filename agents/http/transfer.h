#pragma once

#include "agents/http/http_client.h"
#include "agents/http/libcurl.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>

namespace winnow::agents {

/// A request that is waiting, between two attempts, or in flight. curl keeps a pointer to this
/// object.
struct Transfer {
  using Clock = std::chrono::steady_clock;
  struct EasyDeleter {
    void operator()(CURL* handle) const { libcurl().easy_cleanup(handle); }
  };
  struct ListDeleter {
    void operator()(curl_slist* list) const { libcurl().slist_free_all(list); }
  };

  HttpClient::LaneId lane = 0;
  HttpRequest request;
  HttpClient::OnResult on_result;
  int attempt = 0;
  bool cancelled = false; ///< cancelled before the client's thread took it from the queue
  // State of the attempt in flight:
  const HttpOptions* options = nullptr;
  std::unique_ptr<CURL, EasyDeleter> easy;
  std::unique_ptr<curl_slist, ListDeleter> headers;
  std::array<char, CURL_ERROR_SIZE> error{};
  HttpResult result;
  std::size_t body_bytes = 0;
  Clock::time_point started{};
  std::optional<Clock::time_point> last_byte;   ///< when the last byte of the answer came
  std::optional<Clock::time_point> first_token; ///< when the first token of a streamed answer came

  bool streamed() const { return static_cast<bool>(request.on_bytes); }
  bool is_sent() const; ///< a part of the body of the attempt in flight left this machine
  /// The time at which the wait for the next byte or for the first token becomes too long.
  Clock::time_point deadline() const;
  /// Begins an attempt: prepares `easy`, which the caller adds to a multi handle. Throws Error.
  void begin(const HttpOptions& chosen);
  /// Records how the attempt ended and frees the curl handle.
  HttpResult end(CURLcode code);
};

} // namespace winnow::agents
