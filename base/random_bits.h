#pragma once

#include <cstdint>

namespace winnow {

/// Unpredictable bits from the system's entropy source (getrandom). Throws Error.
std::uint64_t random_bits();

} // namespace winnow
