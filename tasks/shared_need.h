#pragma once

#include "tasks/task/task.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::tasks {

/// The memory through which Winnow's processes pass the tensors of one shape. Only the pages in use
/// take memory.
inline constexpr std::uint64_t kSharedBytes = std::uint64_t{4} << 30;

/// What the selftest passes at this shape: inputs, and for each element of a floating output the
/// answer and its magnitude, 8 bytes each.
std::uint64_t selftest_bytes(const Task& task, const Shape& shape);

/// "search/1 (n=5) needs 40 bytes for its outputs, but Winnow's processes share 32". `tensors`:
/// what the bytes are for.
std::string why_too_large(const Shape& shape, std::uint64_t needed, std::uint64_t available,
                          std::string_view tensors);

/// Throws UsageError with why_too_large(), the task, and the position in task.toml, if more is
/// needed than is available.
void require_shared(const Task& task, const Shape& shape, std::uint64_t needed,
                    std::uint64_t available, std::string_view tensors);

} // namespace winnow::tasks
