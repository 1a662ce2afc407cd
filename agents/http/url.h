#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

/// The parts of a URL that error messages may show: no user, password, query or fragment.
struct UrlParts {
  std::string scheme;
  std::string host;
  std::string shown; ///< "host:port/path"
};
/// nullopt unless `text` is an absolute http or https URL with a host.
std::optional<UrlParts> parse_url(const std::string& text);

/// The text without the users and passwords of the URLs in it: "proxy 'http://[key]@host'". libcurl
/// repeats the proxy of the environment in its messages.
std::string without_users(std::string_view text);

/// localhost, 127.x.x.x or [::1]
bool is_loopback(const std::string& host);

/// Whether a server accepts connections at this URL's host and port. Sends nothing and waits at
/// most half a second.
bool accepts_connections(const std::string& url);

} // namespace winnow::agents
