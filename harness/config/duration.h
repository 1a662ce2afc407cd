#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::harness {

/// "90" (seconds), "250ms", "90s", "10m", "1.5h", "2d". nullopt when malformed, negative or over a
/// thousand years.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The value of a command-line option that must not be 0. Throws UsageError naming the option.
std::chrono::milliseconds duration_option(const std::string& option, const std::string& text);

/// For people: "850 ms", "12.3 s", "4 min 05 s", "2 h 10 min".
std::string format_duration(std::chrono::milliseconds duration);

} // namespace winnow::harness
