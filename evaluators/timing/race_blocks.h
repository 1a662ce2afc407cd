#pragma once

#include "profiling/statistics/race.h"

#include <cstddef>
#include <vector>

namespace winnow::evaluators {

/// The rules of all races between kernels. With them, an A/A race (a kernel against itself)
/// promotes in at most one of two hundred cases.
constexpr profiling::RaceRules kRaceRules{.max_blocks = 100};

/// Number of blocks in a series of samples. A block is two turns in opposite orders.
inline std::size_t block_count(const std::vector<double>& samples) {
  return samples.size() / 2;
}

/// The two launches of a block.
inline profiling::TwoLaunches block_ns(const std::vector<double>& samples, std::size_t block) {
  return {samples[2 * block], samples[2 * block + 1]};
}

} // namespace winnow::evaluators
