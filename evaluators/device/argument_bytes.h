#pragma once

#include "tasks/plan/plan_resolve.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace winnow::evaluators {

/// A launch argument of up to 8 bytes as a kernel takes it; unused bytes are 0.
using ArgumentBytes = std::array<std::byte, 8>;

/// Of an Integer or a Float argument. Throws Error for others and for floats that are neither
/// 4 nor 8 bytes.
ArgumentBytes scalar_bytes(const tasks::ResolvedArgument& argument);
ArgumentBytes address_bytes(std::uint64_t address);

} // namespace winnow::evaluators
