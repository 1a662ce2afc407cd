#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace winnow::search {

/// The bins of a forecast: the speed of a kernel as a multiple of its parent's speed. Bin i ends
/// before kSpeedEdges[i]; the last bin has no end. Late in a search most kernels are within 10 % of
/// their parent, and there the order of candidates is decided, so bins are narrow near 1. The bin
/// around 1 is as wide as a change that a single measurement cannot tell from noise. The edges
/// below 1 mirror those above 1.
inline constexpr std::array<double, 8> kSpeedEdges{0.5, 0.8, 0.91, 0.97, 1.03, 1.1, 1.25, 2};
inline constexpr std::size_t kSpeedBins = kSpeedEdges.size() + 1;

/// The chance of each bin. The sum is 1.
using SpeedChances = std::array<double, kSpeedBins>;

std::size_t speed_bin(double ratio);
/// "below 0.5x", "0.5x to 0.8x", ..., "2x or more".
std::string speed_bin_text(std::size_t bin);

/// The chance of a ratio above `ratio`. Within a bin, equal steps of the logarithm are equally
/// likely. In the last bin, which has no end, the chance halves with each doubling of the ratio,
/// and in the first one the chance of less halves with each halving: a kernel that is written from
/// a bad parent can be ten times as fast.
double chance_above(const SpeedChances& chances, double ratio);

/// The ranked probability score: the mean over the edges of the squared error of the chance that
/// the ratio lies below the edge. 0: the measured bin was certain; 1: the bin at the other end was.
/// A forecast that misses by one bin scores better than one that misses by five, unlike in Brier's
/// score.
double ranked_probability_score(const SpeedChances& chances, std::size_t measured);

} // namespace winnow::search
