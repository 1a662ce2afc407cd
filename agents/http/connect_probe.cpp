#include "agents/http/connect_probe.h"

#include "agents/http/libcurl.h"

#include <memory>

namespace winnow::agents {

bool accepts_connections(const std::string& url) {
  constexpr long kTimeoutMs = 500;
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(libcurl().easy_init(),
                                                                 libcurl().easy_cleanup);
  if (!curl) {
    return false;
  }
  libcurl().easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  libcurl().easy_setopt(curl.get(), CURLOPT_PROXY, "");
  libcurl().easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  libcurl().easy_setopt(curl.get(), CURLOPT_CONNECT_ONLY, 1L);
  libcurl().easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT_MS, kTimeoutMs);
  return libcurl().easy_perform(curl.get()) == CURLE_OK;
}

} // namespace winnow::agents
