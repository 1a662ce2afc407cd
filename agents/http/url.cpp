#include "agents/http/url.h"

#include "agents/http/libcurl.h"

#include <algorithm>
#include <memory>

namespace winnow::agents {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { libcurl().url_cleanup(url); }
};

} // namespace

std::optional<UrlParts> parse_url(const std::string& text) {
  const std::unique_ptr<CURLU, UrlDeleter> url(libcurl().url());
  if (!url || libcurl().url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  const auto part = [&](CURLUPart which) {
    char* value = nullptr;
    std::string copy;
    if (libcurl().url_get(url.get(), which, &value, 0) == CURLUE_OK) {
      copy = value;
      libcurl().free(value);
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

std::string without_users(std::string_view text) {
  constexpr std::string_view kScheme = "://";
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size() - 1) + 1;
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (const std::size_t at = word.rfind('@'); at != std::string_view::npos) {
      const std::size_t scheme = word.find(kScheme);
      shown.append(word.substr(0, scheme < at ? scheme + kScheme.size() : 0)).append("[key]");
      word.remove_prefix(at);
    }
    shown += word;
  }
  return shown;
}

bool is_loopback(const std::string& host) {
  const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

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
