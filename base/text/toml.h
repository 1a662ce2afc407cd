#pragma once

#include "base/text/positioned_json.h"

#include <string>
#include <string_view>

namespace winnow {

/// Reads a TOML document as a JSON object whose members are in the order of the file. A date or a
/// time becomes Null. The position of a string is that of its first quote. Throws UsageError
/// ("FILE:LINE:COLUMN: message") for invalid TOML and for any byte that is not ASCII. The reason
/// for the second: the white-space test of toml++ 3.3 has undefined behaviour for many other
/// characters.
JsonValue parse_toml(std::string_view text, const std::string& file);

} // namespace winnow
