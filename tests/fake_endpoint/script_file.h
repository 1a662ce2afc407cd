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

/// Rules for answers, written as a JSON list of
///   {"match": {"method", "path", "header": {NAME: TEXT}, "body": {"/json/pointer": VALUE},
///              "contains"},
///    "times": N, "reply": {...}}
/// A rule matches requests with this method, with these texts in path, header and body and these
/// values in the body. A rule without `match` matches all requests. With `times` a rule holds only
/// for the first N requests that it matches. The reply is one of:
///   a model's answer: {"text", "reasoning", "finish", "model", "dollars",
///     "usage": {"prompt", "cached", "cache_write", "completion", "reasoning"}}
///   an error: {"error": {"message", "type", "code", "retry_delay", "quota_id"}, "status"}
///   a body that is sent unchanged: {"body": TEXT or JSON, "content_type"}
///   a stream that is sent unchanged: {"events": [{"wait_ms", "bytes"}]}
///   a fault: {"fault": NAME}, one of fault_names(); the other members change its reply
/// Each reply may also have "status", "headers": {NAME: TEXT}, "drop_after_bytes", "delivery":
/// {"first_byte_ms", "first_token_ms", "between_ms", "piece_bytes", "segment_bytes", "crlf",
/// "comments", "multi_line"}.
class ScriptFile {
public:
  /// Throws winnow::Error with the file, the place in the file and the expected form.
  explicit ScriptFile(const std::filesystem::path& path);
  ScriptFile(std::string_view text, const std::string& name);

  /// The reply of the first rule that matches; nullopt if none does. Counts `times`.
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
