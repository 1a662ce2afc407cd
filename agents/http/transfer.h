#pragma once

#include "agents/http/http_client.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>

#include <curl/curl.h>

namespace winnow::agents {

/// A request on its way: waiting, between two attempts, or in flight. Its address is curl's.
struct Transfer {
  using Clock = std::chrono::steady_clock;
  struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  HttpClient::LaneId lane = 0;
  HttpRequest request;
  HttpClient::OnResult on_result;
  int attempt = 0;
  bool cancelled = false; ///< before the client's thread took it over
  // of the attempt in flight:
  const HttpOptions* options = nullptr;
  std::unique_ptr<CURL, EasyDeleter> easy;
  std::unique_ptr<curl_slist, ListDeleter> headers;
  std::array<char, CURL_ERROR_SIZE> error{};
  HttpResult result;
  std::size_t body_bytes = 0;
  Clock::time_point started{};
  std::optional<Clock::time_point> last_byte;   ///< of the answer
  std::optional<Clock::time_point> first_token; ///< of a streamed one

  bool streamed() const { return static_cast<bool>(request.on_bytes); }
  /// When it has waited long enough for the next byte or the first token.
  Clock::time_point deadline() const;
  /// Begins an attempt: a handle ready to be added to a multi handle. Throws Error.
  void begin(const HttpOptions& chosen);
  /// Takes down how the attempt ended and gives the handle back.
  HttpResult end(CURLcode code);
};

} // namespace winnow::agents
