#include "base/text/number_text.h"

#include <cmath>

#include <fmt/format.h>

namespace winnow {
namespace {

constexpr double kLeast = 1e-6;
constexpr double kMost = 1e15; // what lies above is no measurement

} // namespace

std::string number_text(double value, int decimals) {
  if (!(std::abs(value) <= kMost)) {
    return value > 0 ? ">1e15" : value < 0 ? "<-1e15" : "?";
  }
  if (value < 0) {
    return "-" + number_text(-value, decimals);
  }
  if (!(value > 0) || value >= 0.95 * std::pow(10, 1 - decimals)) {
    return fmt::format("{:.{}f}", value, decimals);
  }
  if (value < kLeast) {
    return "<0.000001";
  }
  std::string text =
      fmt::format("{:.{}f}", value, 1 - static_cast<int>(std::floor(std::log10(value))));
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string about_text(double value) {
  if (!(value <= kMost)) {
    return number_text(value);
  }
  const double unit = std::pow(10, std::floor(std::log10(value)));
  const double rounded = std::round(value / unit) * unit;
  return "~" + (rounded < 1 ? number_text(rounded, 0) : fmt::format("{:.0f}", rounded));
}

std::string four_digits(double value) {
  return number_text(value, value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0);
}

TimeUnit time_unit(double nanoseconds) {
  TimeUnit unit{1, "ns"};
  for (const TimeUnit larger : {TimeUnit{1e3, "us"}, TimeUnit{1e6, "ms"}, TimeUnit{1e9, "s"}}) {
    unit = nanoseconds >= larger.nanoseconds ? larger : unit;
  }
  return unit;
}

std::string time_text(double nanoseconds) {
  const TimeUnit unit = time_unit(nanoseconds);
  return nanoseconds > 0 ? four_digits(nanoseconds / unit.nanoseconds) + " " + unit.name : "";
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  return number_text(percent, percent < 10 ? 1 : 0) + " %";
}

std::string dollars_text(double dollars) {
  constexpr int kDecimals = 4;
  return "$" + number_text(dollars, kDecimals);
}

std::string minute_text(std::string time) {
  constexpr std::size_t kMinutes = 16;
  constexpr std::size_t kSeparator = 10;
  if (time.size() > kMinutes && time[kSeparator] == 'T') {
    time.resize(kMinutes);
    time[kSeparator] = ' ';
  }
  return time;
}

} // namespace winnow
