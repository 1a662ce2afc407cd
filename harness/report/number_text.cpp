#include "harness/report/number_text.h"

#include <fmt/format.h>

namespace winnow::harness {

std::string number_text(double value) {
  constexpr double kSmall = 0.095;
  return value > 0 && value < kSmall ? fmt::format("{:.2g}", value) : fmt::format("{:.2f}", value);
}

std::string speedup_text(double speedup) {
  return speedup > 0 ? number_text(speedup) + "x" : "";
}

std::string speedup_interval_text(const tasks::Bounds& bounds) {
  return bounds.known() ? number_text(bounds.low) + "-" + number_text(bounds.high) : "";
}

std::string dollars_text(double dollars) {
  return fmt::format("${:.4f}", dollars);
}

} // namespace winnow::harness
