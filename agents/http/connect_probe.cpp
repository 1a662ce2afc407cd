#include "agents/http/connect_probe.h"

#include <memory>

#include <curl/curl.h>

namespace winnow::agents {

bool accepts_connections(const std::string& url) {
  constexpr long kTimeoutMs = 500;
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (!curl) {
    return false;
  }
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT_MS, kTimeoutMs);
  return curl_easy_perform(curl.get()) == CURLE_OK;
}

} // namespace winnow::agents
