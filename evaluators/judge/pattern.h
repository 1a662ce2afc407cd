#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Describes in words which pattern the wrong elements (flat indices, ascending) form: "all of
/// them", "columns 96 to 99 of every row", "every 32 elements from 31", ...
std::string describe_pattern(const std::vector<std::int64_t>& wrong,
                             const std::vector<std::int64_t>& shape);

/// "[3, 17]" for a flat index into a row-major tensor.
std::string position_text(std::int64_t index, const std::vector<std::int64_t>& shape);

} // namespace winnow::evaluators
