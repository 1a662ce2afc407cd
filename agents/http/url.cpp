#include "agents/http/url.h"

#include <memory>

#include <curl/curl.h>

namespace winnow::agents {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

} // namespace

std::optional<UrlParts> parse_url(const std::string& text) {
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  const auto part = [&](CURLUPart which) {
    char* value = nullptr;
    std::string copy;
    if (curl_url_get(url.get(), which, &value, 0) == CURLUE_OK) {
      copy = value;
      curl_free(value);
    }
    return copy;
  };
  UrlParts parts{part(CURLUPART_SCHEME), part(CURLUPART_HOST), {}};
  if ((parts.scheme != "http" && parts.scheme != "https") || parts.host.empty()) {
    return std::nullopt;
  }
  const std::string port = part(CURLUPART_PORT);
  parts.shown = parts.host + (port.empty() ? "" : ":" + port) + part(CURLUPART_PATH);
  return parts;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

} // namespace winnow::agents
