#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A column of the table: its heading, and a kernel at one shape ("shapes[].kernel" of a document
/// of schema "winnow.profile").
using ProfileColumn = std::pair<std::string, nlohmann::json>;

/// "DRAM bytes read"; a counter without a name is shown by its key, in words.
std::string counter_title(const std::string& key);

/// The table: lines under group headings (times, limits, launch, energy, conditions, counters), one
/// table column for each ProfileColumn. Lines without a value in any column are left out.
/// `compared`: there are two columns, and a third shows the difference of the first from the
/// second, in percent, or in points if the values are percentages.
std::string profile_table(const std::string& corner, const std::vector<ProfileColumn>& columns,
                          bool compared);

} // namespace winnow::harness
