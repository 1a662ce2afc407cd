#pragma once

#include "base/text/diagnostic.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow {

struct JsonMember;

/// A JSON value with its position. nlohmann::json keeps no positions, accepts the same key twice
/// and does not limit the depth. A launch plan needs all three.
struct JsonValue {
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Real, String, Array, Object };
  Kind kind = Kind::Null;
  SourcePosition at;  ///< of the first character; of a string, the one after the quote
  SourcePosition end; ///< after the last character
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;  ///< Integer and Real
  std::string text; ///< the content of a string, or a number as written
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

/// Parses exactly one JSON value, which begins at position `start` of a file. At most 64 levels
/// deep. Throws JsonError.
JsonValue parse_json(std::string_view text, SourcePosition start);

/// "an object", "a string", ...
std::string_view to_string(JsonValue::Kind kind);

/// Line and column of the byte `offset` in a text.
SourcePosition position_of(std::string_view text, std::size_t offset);
/// The position in the file of character `column` (from 1) of a decoded string. `at` is the
/// position of the string's first character. An escape is longer in the file than in the decoded
/// string.
SourcePosition position_in_string(std::string_view file_text, SourcePosition at, int column);

} // namespace winnow
