#pragma once

#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace winnow {

/// Reads a TOML document. Throws UsageError ("FILE:LINE:COLUMN: what") for what is not TOML, and
/// for any byte that is not ASCII: toml++ 3.3 runs into undefined behaviour when it tests many
/// other characters for white space.
toml::table parse_toml(std::string_view text, const std::string& file);

} // namespace winnow
