#pragma once

#include <string>
#include <string_view>

namespace winnow {

/// toml++ checks what it believes with TOML_ASSERT, and some malformed documents break its belief
/// ("[?" in 3.3). Its default ends the process, or is undefined behaviour under NDEBUG; this
/// throws, and parse_toml() reports it. Throws TomlAssertion.
[[noreturn]] void toml_assertion_failed(const char* expression);

} // namespace winnow

#define TOML_ASSERT(expression)                                                                    \
  (static_cast<bool>(expression) ? static_cast<void>(0)                                            \
                                 : ::winnow::toml_assertion_failed(#expression))
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace winnow {

/// Reads a TOML document. Throws UsageError ("FILE:LINE:COLUMN: what") for what is not TOML, and
/// for any byte that is not ASCII: toml++ 3.3 runs into undefined behaviour when it tests many
/// other characters for white space.
toml::table parse_toml(std::string_view text, const std::string& file);

} // namespace winnow
