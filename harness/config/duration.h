#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::harness {

/// Parses "90" (seconds), "250ms", "90s", "10m", "1.5h" or "2d". nullopt if the text is malformed,
/// negative or more than a thousand years.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The value of a command-line option that must not be 0. Throws UsageError with the option's name.
std::chrono::milliseconds duration_option(const std::string& option, const std::string& text);

/// For users: "850 ms", "12.3 s", "4 min 05 s", "2 h 10 min".
std::string format_duration(std::chrono::milliseconds duration);

} // namespace winnow::harness
