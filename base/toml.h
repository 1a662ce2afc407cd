#pragma once

#include <string>
#include <string_view>

namespace winnow {

/// toml++ checks its internal assumptions with TOML_ASSERT. Some malformed documents break them
/// ("[?" in 3.3). The default TOML_ASSERT ends the process, or is undefined behaviour under NDEBUG.
/// This function throws TomlAssertion instead, and parse_toml() reports the error.
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

/// Reads a TOML document. Throws UsageError ("FILE:LINE:COLUMN: message") for invalid TOML and for
/// any byte that is not ASCII. The reason for the second: the white-space test of toml++ 3.3 has
/// undefined behaviour for many other characters.
toml::table parse_toml(std::string_view text, const std::string& file);

} // namespace winnow
