#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/question.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tests {

/// Rules for answers: a JSON list of
///   {"match": {"method", "path", "header": {NAME: TEXT}, "body": {"/json/pointer": VALUE},
///              "contains"},
///    "times": N, "reply": {...}}
/// A rule holds for requests with this method, with these texts in path, header and body and these
/// values in the body; without `match` for all; with `times` for the first N of them. The reply:
///   {"text", "reasoning", "finish", "model", "dollars",
///    "usage": {"prompt", "cached", "cache_write", "completion", "reasoning"}}  a model's answer,
///    or
///   {"error": {"message", "type", "code", "retry_delay", "quota_id"}, "status"}, or
///   {"body": TEXT or JSON, "content_type"}, or {"events": [{"wait_ms", "bytes"}]} as they are, or
///   {"fault": NAME} one of fault_names(), changed by what else is there;
/// and with each "status", "headers": {NAME: TEXT}, "drop_after_bytes", "delivery":
/// {"first_byte_ms", "first_token_ms", "between_ms", "piece_bytes", "segment_bytes", "crlf",
/// "comments", "multi_line"}.
class ScriptFile {
public:
  /// Throws winnow::Error with the file, the place in it and what was expected.
  explicit ScriptFile(const std::filesystem::path& path);
  ScriptFile(std::string_view text, const std::string& name);

  /// Of the first rule that holds; nullopt when none does. Counts `times`.
  std::optional<FakeReply> reply_to(const SeenRequest& request);

private:
  struct Expected {
    std::string place; ///< header name in lower case, or JSON pointer
    std::string value; ///< text, or JSON
  };
  struct Rule {
    std::string method, path, contains;
    std::vector<Expected> headers, body;
    std::optional<std::size_t> times;
    FakeReply reply;
  };
  static bool holds(const Rule& rule, const SeenRequest& request);
  friend struct RuleReader;

  std::vector<Rule> rules_;
};

} // namespace winnow::tests
