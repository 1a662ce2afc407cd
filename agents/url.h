#pragma once

#include <optional>
#include <string>

namespace winnow::agents {

/// The parts of a URL that error messages show: no user, password, query or fragment.
struct UrlParts {
  std::string scheme;
  std::string host;
  std::string shown; ///< "host:port/path"
};
/// nullopt when it is no absolute http or https URL with a host.
std::optional<UrlParts> parse_url(const std::string& text);

} // namespace winnow::agents
