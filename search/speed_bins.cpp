#include "search/speed_bins.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::search {
namespace {

constexpr double kOuterWidth = 2; // factor

double low_edge(std::size_t bin) {
  return bin == 0 ? kSpeedEdges.front() / kOuterWidth : kSpeedEdges.at(bin - 1);
}

double high_edge(std::size_t bin) {
  return bin < kSpeedEdges.size() ? kSpeedEdges.at(bin) : kSpeedEdges.back() * kOuterWidth;
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
    const double low = std::log(low_edge(bin));
    const double high = std::log(high_edge(bin));
    const double at = ratio > 0 ? std::log(ratio) : low;
    above += chances.at(bin) * std::clamp((high - at) / (high - low), 0.0, 1.0);
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
