#pragma once

#include <string>
#include <string_view>

namespace winnow::profiling {

/// The value as text for people: "87 %", "412 MB", "45.2 us", "12.3", "1.2e+06". `unit` as in
/// CounterName.
std::string counter_text(double value, std::string_view unit);

} // namespace winnow::profiling
