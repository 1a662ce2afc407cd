#include "search/speed_bins.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::search {
namespace {

/// The part of the bin's chance that belongs to ratios above `ratio`.
double part_above(std::size_t bin, double ratio) {
  if (bin == 0) {
    return 1 - std::min(ratio / kSpeedEdges.front(), 1.0);
  }
  const double low = kSpeedEdges.at(bin - 1);
  if (ratio <= low) {
    return 1;
  }
  if (bin == kSpeedEdges.size()) {
    return low / ratio;
  }
  const double high = kSpeedEdges.at(bin);
  return std::max(std::log(high / ratio) / std::log(high / low), 0.0);
}

} // namespace

std::size_t speed_bin(double ratio) {
  return static_cast<std::size_t>(std::upper_bound(kSpeedEdges.begin(), kSpeedEdges.end(), ratio) -
                                  kSpeedEdges.begin());
}

std::string speed_bin_text(std::size_t bin) {
  if (bin == 0) {
    return fmt::format("below {:g}x", kSpeedEdges.front());
  }
  return bin < kSpeedEdges.size()
             ? fmt::format("{:g}x to {:g}x", kSpeedEdges.at(bin - 1), kSpeedEdges.at(bin))
             : fmt::format("{:g}x or more", kSpeedEdges.back());
}

double chance_above(const SpeedChances& chances, double ratio) {
  double above = 0;
  for (std::size_t bin = 0; bin < kSpeedBins; ++bin) {
    above += chances.at(bin) * part_above(bin, std::max(ratio, 0.0));
  }
  return above;
}

double ranked_probability_score(const SpeedChances& chances, std::size_t measured) {
  double below = 0;
  double score = 0;
  for (std::size_t edge = 0; edge < kSpeedEdges.size(); ++edge) {
    below += chances.at(edge);
    const double error = below - (measured <= edge ? 1 : 0);
    score += error * error;
  }
  return score / static_cast<double>(kSpeedEdges.size());
}

} // namespace winnow::search
