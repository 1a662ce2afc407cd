#pragma once

#include "lab/published_statistics.h"
#include "lab/recorded_search.h"

#include <vector>

namespace winnow::lab {

using SearchCalls = std::vector<std::vector<RecordedCall>>; ///< by search
/// All statistics of statistic_names().
std::vector<Statistic> observe(const SearchCalls& searches);

} // namespace winnow::lab
