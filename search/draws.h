#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

namespace winnow::search {

/// The random numbers of one decision. They are a function of the search's seed, its task and the
/// number of calls so far, so a search that is read from its log draws the same numbers.
class Draws {
public:
  Draws(std::uint64_t seed, std::string_view task, std::size_t calls);
  double next(); ///< from 0 up to but not including 1
  /// One of so many things. `count`: at least 1.
  std::size_t index(std::size_t count);

private:
  std::mt19937_64 random_;
};

} // namespace winnow::search
