#include "profiling/roofline/counter_text.h"

#include "base/text/number_text.h"

#include <cmath>
#include <span>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr double kStep = 1e3;

// Three digits, in the largest unit that gives at least 1.
std::string scaled(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (std::abs(value) >= kStep && unit + 1 < units.size()) {
    value /= kStep;
    ++unit;
  }
  const int decimals = std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
  return number_text(value, decimals) + " " + units[unit];
}

} // namespace

std::string counter_text(double value, std::string_view unit) {
  constexpr const char* kBytes[] = {"B", "kB", "MB", "GB", "TB"};
  constexpr const char* kTimes[] = {"ns", "us", "ms", "s"};
  if (unit == "B") {
    return scaled(value, kBytes);
  }
  if (unit == "ns") {
    return scaled(value, kTimes);
  }
  if (unit == "%") {
    return number_text(value, std::abs(value) < 10 ? 1 : 0) + " %";
  }
  return fmt::format("{:.3g}", value);
}

} // namespace winnow::profiling
