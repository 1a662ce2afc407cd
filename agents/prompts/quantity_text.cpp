#include "agents/prompts/quantity_text.h"

#include <array>

#include <fmt/format.h>

namespace winnow::agents {

std::string time_text(double nanoseconds) {
  if (nanoseconds < 1e3) {
    return fmt::format("{:.0f} ns", nanoseconds);
  }
  if (nanoseconds < 1e6) {
    return fmt::format("{:.3g} us", nanoseconds / 1e3);
  }
  return nanoseconds < 1e9 ? fmt::format("{:.3g} ms", nanoseconds / 1e6)
                           : fmt::format("{:.3g} s", nanoseconds / 1e9);
}

std::string quantity_text(double value, std::string_view unit) {
  if (unit == "ns") {
    return time_text(value);
  }
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (value >= 1e3 && prefix + 1 < kPrefixes.size()) {
    value /= 1e3;
    ++prefix;
  }
  return fmt::format("{:.3g} {}{}", value, kPrefixes[prefix], unit);
}

} // namespace winnow::agents
