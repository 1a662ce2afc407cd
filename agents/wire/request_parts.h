#pragma once

#include "agents/wire/wire_format.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// Consecutive messages of one role. Texts are valid UTF-8 and not empty. A turn has several parts
/// only where a prefix ends that a provider may cache.
struct Turn {
  struct Part {
    std::string text;
    bool end_of_prefix = false;
  };
  std::string role;
  std::vector<Part> parts;

  std::string text() const;
};
std::vector<Turn> turns_of(const ModelRequest& request);

/// A key that is equal for all requests with the same cacheable prefix; empty if no prefix is
/// marked.
std::string prefix_key(const ModelRequest& request);

/// Throws Error if the schema is not a JSON object.
nlohmann::json schema_of(const ReplySchema& schema);

/// Changes the members of the request as the options say, and merges options.extra_body into it
/// last (RFC 7396: null removes a member). Throws UsageError if one of these is not a JSON object.
void apply_options(nlohmann::json& body, const WireOptions& options);

/// `base`, or `otherwise` if `base` is empty, split into path and query. The path has no slash at
/// its end.
struct BaseUrl {
  std::string path;  ///< includes scheme and host
  std::string query; ///< includes the '?'; may be empty

  BaseUrl(const std::string& base, std::string_view otherwise);
  /// The URL with `suffix` appended, unless the path already ends in `suffix`.
  std::string with(std::string_view suffix) const;
};

std::string percent_encoded(std::string_view text);

} // namespace winnow::agents
