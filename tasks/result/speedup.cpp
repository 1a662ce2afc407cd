#include "tasks/result/speedup.h"

#include <algorithm>
#include <cmath>

namespace winnow::tasks {

Speedup mean_speedup(const std::vector<Speedup>& speedups) {
  double below = 0, above = 0, log_sum = 0;
  for (const auto& [value, bounds] : speedups) {
    below += std::pow(std::log(value / bounds.low), 2);
    above += std::pow(std::log(bounds.high / value), 2);
    log_sum += std::log(value);
  }
  const auto is_bounded = [](const Speedup& one) {
    return one.bounds.known() && one.bounds.low > 0;
  };
  if (speedups.empty()) {
    return {};
  }
  const auto count = static_cast<double>(speedups.size());
  Speedup mean{std::exp(log_sum / count), {}};
  if (std::all_of(speedups.begin(), speedups.end(), is_bounded)) {
    mean.bounds = {std::exp((log_sum - std::sqrt(below)) / count),
                   std::exp((log_sum + std::sqrt(above)) / count)};
  }
  return mean;
}

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
