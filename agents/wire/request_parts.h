#pragma once

#include "agents/wire/wire_format.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// Consecutive messages of one role. Texts are valid UTF-8 and not empty; they are cut only where a
/// prefix ends that a provider may cache.
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

/// The same for all requests that begin with the same prefix; empty when none is marked.
std::string prefix_key(const ModelRequest& request);

/// Throws Error for a schema that is no JSON object.
nlohmann::json schema_of(const ReplySchema& schema);

/// Merges options.extra_body (RFC 7396: null removes a member). Throws UsageError when it is no
/// JSON object.
void merge_extra_body(nlohmann::json& body, const std::string& extra_body);

/// `base`, or `otherwise` if that is empty, taken apart; no slash at the end of the path.
struct BaseUrl {
  std::string path;  ///< with scheme and host
  std::string query; ///< with its '?', or empty

  BaseUrl(const std::string& base, std::string_view otherwise);
  /// The URL with `suffix` appended unless it ends so already.
  std::string with(std::string_view suffix) const;
};

std::string percent_encoded(std::string_view text);

} // namespace winnow::agents
