#include "profiling/roofline/ceilings.h"

#include <algorithm>
#include <cmath>

namespace winnow::profiling {
namespace {

// Interpolates linearly between the logarithms of size and bandwidth.
double between(const BandwidthPoint& low, const BandwidthPoint& high, double bytes) {
  const double part =
      (std::log(bytes) - std::log(low.bytes)) / (std::log(high.bytes) - std::log(low.bytes));
  return std::exp(std::lerp(std::log(low.bytes_per_second), std::log(high.bytes_per_second), part));
}

} // namespace

std::optional<double> Ceilings::rate(std::string_view kind) const {
  const auto found = rates.find(std::string(kind));
  return found != rates.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<BandwidthPoint> Ceilings::bandwidth_at(double bytes) const {
  if (bandwidth.empty() || !(bytes > 0)) {
    return std::nullopt;
  }
  const auto high =
      std::lower_bound(bandwidth.begin(), bandwidth.end(), bytes,
                       [](const BandwidthPoint& point, double size) { return point.bytes < size; });
  if (high == bandwidth.begin()) {
    return BandwidthPoint{bytes, high->bytes_per_second, high->level};
  }
  const auto low = std::prev(high);
  if (high == bandwidth.end()) {
    return BandwidthPoint{bytes, low->bytes_per_second, low->level};
  }
  const bool nearer_low = bytes / low->bytes < high->bytes / bytes;
  return BandwidthPoint{bytes, between(*low, *high, bytes), nearer_low ? low->level : high->level};
}

std::optional<BandwidthPoint> Ceilings::dram() const {
  const auto found =
      std::find_if(bandwidth.rbegin(), bandwidth.rend(),
                   [](const BandwidthPoint& point) { return point.level == "DRAM"; });
  return found != bandwidth.rend() ? std::optional(*found) : std::nullopt;
}

} // namespace winnow::profiling
