#include "tasks/result/speedup_text.h"

namespace winnow::tasks {

bool is_unsure(const Bounds& bounds) {
  constexpr double kWidest = 100;
  return bounds.known() && bounds.high > kWidest * bounds.low;
}

std::string speedup_text(double speedup, const Bounds& bounds) {
  return speedup > 0 ? (is_unsure(bounds) ? about_text(speedup) : number_text(speedup)) + "x" : "";
}

std::string speedup_interval_text(const Bounds& bounds) {
  return bounds.known() ? number_text(bounds.low) + "-" + number_text(bounds.high) : "";
}

} // namespace winnow::tasks
