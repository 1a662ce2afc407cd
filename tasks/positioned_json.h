#pragma once

#include "tasks/diagnostic.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::tasks {

struct JsonMember;

/// A JSON value that knows its place. nlohmann::json keeps no positions, accepts the same key twice
/// and has no limit on depth; a launch plan needs all three.
struct JsonValue {
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Real, String, Array, Object };
  Kind kind = Kind::Null;
  SourcePosition at; ///< of the value's first character; of the first one inside a string's quotes
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;  ///< Integer and Real
  std::string text; ///< a string's content, a number as written
  std::vector<JsonValue> items;
  std::vector<JsonMember> members; ///< in order

  const JsonValue* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  SourcePosition at; ///< of the key
  JsonValue value;
};

class JsonError : public std::runtime_error {
public:
  JsonError(SourcePosition at, const std::string& what, std::string expected = {})
      : std::runtime_error(what), at_(at), expected_(std::move(expected)) {}
  SourcePosition at() const { return at_; }
  const std::string& expected() const { return expected_; }

private:
  SourcePosition at_;
  std::string expected_;
};

/// Exactly one JSON value, which begins at `start` of some file; at most 64 levels deep. Throws
/// JsonError.
JsonValue parse_json(std::string_view text, SourcePosition start);

/// "an object", "a string", ...
std::string_view to_string(JsonValue::Kind kind);

/// Line and column of the byte at `offset` of a text.
SourcePosition position_of(std::string_view text, std::size_t offset);
/// Where the character `column` (from 1) of a decoded string stands in the file, when the string's
/// first character is at `at`: escapes take more room in the file than in the string.
SourcePosition position_in_string(std::string_view file_text, SourcePosition at, int column);

} // namespace winnow::tasks
