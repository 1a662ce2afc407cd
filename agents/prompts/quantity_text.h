#pragma once

#include <string>
#include <string_view>

namespace winnow::agents {

std::string time_text(double nanoseconds); ///< "12.3 us"
/// A value with its unit: "4.81 TB/s", "989 Top/s", "2.1 us" for the units "B/s", "op/s" and "ns".
std::string quantity_text(double value, std::string_view unit);

} // namespace winnow::agents
