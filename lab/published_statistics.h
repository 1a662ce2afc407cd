#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::lab {

/// A statistic of searches with its standard error. The names:
///   "correct", "not compiled", "wrong"      shares of the calls
///   "regressed"                             calls whose kernel is correct and at least 15 % slower
///                                           than the best kernel before
///   "hit 1" ... "hit 10", "hit later"       calls of this index that gain more than 2 %
///   "gain after 1", 2, 3, 5, 10             share of the log gain of all searches
///   "top gains"                             share of the log gain in the largest seventh of gains
///   "best of 3 first calls"                 mean log speedup of the best of three kernels that
///                                           build on none of one another
///   "final"                                 mean log speedup of the best kernel of a search
///   "spread of finals"                      its standard deviation
struct Statistic {
  std::string name;
  double value = 0;
  double error = 0;
};
inline constexpr std::size_t kIndexedCalls = 10;                        ///< of the statistics "hit"
inline constexpr std::array<std::size_t, 5> kGainAfter{1, 2, 3, 5, 10}; ///< of "gain after"
const std::vector<std::string>& statistic_names();

/// Statistics that were published without logs.
struct PublishedStatistics {
  std::string name, source;
  std::size_t calls_per_search = 0;
  std::vector<Statistic> statistics;
};
/// Reads such a file; docs/lab.md has the keys. Throws UsageError with the position of a mistake.
PublishedStatistics parse_statistics(std::string_view text, const std::string& file);

} // namespace winnow::lab
