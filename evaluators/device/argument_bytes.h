#pragma once

#include "tasks/plan/resolve/plan_resolve.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace winnow::evaluators {

/// The bytes of a launch argument of at most 8 bytes, as the kernel gets them. Unused bytes are 0.
using ArgumentBytes = std::array<std::byte, 8>;

/// The bytes of an Integer or Float argument. Throws Error for other arguments and for floats that
/// have neither 4 nor 8 bytes.
ArgumentBytes scalar_bytes(const tasks::ResolvedArgument& argument);
ArgumentBytes address_bytes(std::uint64_t address);

} // namespace winnow::evaluators
