#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// The target of a request, in its parts: "/v1/jobs/9c1e?wait_s=60".
struct Target {
  std::vector<std::string> path; ///< {"v1", "jobs", "9c1e"}, without empty parts
  std::map<std::string, std::string> query;

  /// Whether the path begins with these parts and has `more` others.
  bool is(std::initializer_list<std::string_view> begin, std::size_t more = 0) const;
  /// Throws UsageError if the query has a name that is not in the list, so that no misspelt option
  /// is ignored.
  void allow_only(const std::vector<std::string>& names) const;
  std::string value(const std::string& name) const; ///< empty: not in the query
  /// A whole number from 0 to `most`; a larger one counts as `most`. 0 if it is not in the query.
  /// Throws UsageError.
  std::int64_t number(const std::string& name, std::int64_t most) const;
};

/// nullopt: the target begins with no slash, has more than 32 parts, or has a % without two hex
/// digits.
std::optional<Target> parse_target(std::string_view text);

} // namespace winnow::harness
