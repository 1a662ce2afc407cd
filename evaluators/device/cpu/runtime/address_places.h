#pragma once

#include <cstddef>

namespace winnow::evaluators::cpu {

// Each mapping of a buffer gets a random place in the address space. Nothing else is mapped within
// 64 GiB of it. So no index of 32 bits leads to other memory, and no distance that a kernel could
// know leads to another buffer.

/// An address for a mapping of `bytes`, for mmap() without MAP_FIXED. Null: no place is free or
/// large enough, so the system chooses.
void* take_place(std::size_t bytes);
/// Frees the place of a mapping that begins at `address`, or does nothing if it is in none.
void free_place(const void* address) noexcept;

} // namespace winnow::evaluators::cpu
