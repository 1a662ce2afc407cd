#include "store/number_text.h"

namespace winnow::store {

bool is_unsure(const tasks::Bounds& bounds) {
  constexpr double kWidest = 100;
  return bounds.known() && bounds.high > kWidest * bounds.low;
}

std::string speedup_text(double speedup, const tasks::Bounds& bounds) {
  return speedup > 0 ? (is_unsure(bounds) ? about_text(speedup) : number_text(speedup)) + "x" : "";
}

std::string speedup_interval_text(const tasks::Bounds& bounds) {
  return bounds.known() ? number_text(bounds.low) + "-" + number_text(bounds.high) : "";
}

std::string dollars_text(double dollars) {
  constexpr int kDecimals = 4;
  return "$" + number_text(dollars, kDecimals);
}

} // namespace winnow::store
