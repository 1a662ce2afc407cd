#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// Parses the body of a request. Throws UsageError if the body is no JSON object, or has more than
/// 64 levels or a million values: small bodies with many values would need much memory.
nlohmann::json parse_client_json(std::string_view body);

/// Reads the members of an object of a request. Each function throws UsageError with the path of a
/// member that has another type.
class ClientObject {
public:
  /// `path`: of the object, for messages: "items[3]". `json` must outlive this.
  ClientObject(const nlohmann::json& json, std::string path);

  std::string text(const char* name) const; ///< empty: the member is missing or null
  bool boolean(const char* name) const;     ///< false: the member is missing or null
  /// From 0 to `most`. 0: the member is missing or null.
  std::int64_t number(const char* name, std::int64_t most) const;
  /// `otherwise`: the member is missing or null. Another value must be from `least` to `most`.
  std::int64_t whole_number(const char* name, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) const;
  /// Texts; null in the list counts as an empty text. Empty: the member is missing or null.
  std::vector<std::string> texts(const char* name) const;
  /// nullptr: the member is missing or null.
  const nlohmann::json* find(const char* name) const;
  /// Throws UsageError if the object has a member that is not in the list, so that no misspelt
  /// option is ignored.
  void allow_only(const std::vector<std::string>& names) const;
  std::string path_of(const char* name) const; ///< "items[3].task"

private:
  const nlohmann::json& json_;
  std::string path_;
};

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
