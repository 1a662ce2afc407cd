#pragma once

#include "lab/statistics.h"

#include <string>
#include <vector>

namespace winnow::lab {

/// Sets the numbers of a landscape that recorded calls give directly. `source` becomes the source
/// of each section that changes. Returns a note for each section that stays as it was.
std::vector<std::string> fit_directly(const SearchCalls& searches,
                                      const std::vector<ModelCall>& calls,
                                      const std::string& source, Landscape& landscape);

} // namespace winnow::lab
