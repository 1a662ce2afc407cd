#include "harness/config/duration.h"

#include "base/error.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr double kMaxMilliseconds = 1000.0 * 365 * 86'400'000;

std::optional<double> unit_milliseconds(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
      {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  for (const auto& [name, milliseconds] : kUnits) {
    if (name == unit) {
      return milliseconds;
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  const auto unit = unit_milliseconds(text.substr(static_cast<std::size_t>(rest - text.data())));
  if (!unit || !(number >= 0) || number * *unit > kMaxMilliseconds) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(std::llround(number * *unit));
}

std::chrono::milliseconds duration_option(const std::string& option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration || duration->count() == 0) {
    throw UsageError(option + " " + text +
                     ": expected seconds, or a duration such as 250ms, 90s or 10m");
  }
  return *duration;
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t milliseconds = duration.count();
  if (milliseconds < 1000) {
    return fmt::format("{} ms", milliseconds);
  }
  if (milliseconds < 60'000) {
    return fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
  }
  const std::int64_t seconds = milliseconds / 1000;
  if (seconds < 3600) {
    return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  }
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

} // namespace winnow::harness
