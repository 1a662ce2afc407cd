#pragma once

#include <cstdint>

namespace winnow {

/// From the system's entropy: nothing that has been seen foretells it. Throws Error.
std::uint64_t random_bits();

} // namespace winnow
