#pragma once

#include "profiling/statistics/race.h"

#include <cstddef>
#include <vector>

namespace winnow::evaluators {

/// Of all races between kernels: an A/A race promotes in one of two hundred cases at most.
constexpr profiling::RaceRules kRaceRules{.max_blocks = 100};

/// How many blocks of a race there are in a series of samples: two turns, in both orders, are one.
inline std::size_t block_count(const std::vector<double>& samples) {
  return samples.size() / 2;
}

/// A block's two launches.
inline profiling::TwoLaunches block_ns(const std::vector<double>& samples, std::size_t block) {
  return {samples[2 * block], samples[2 * block + 1]};
}

} // namespace winnow::evaluators
