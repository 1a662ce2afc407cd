#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow::evaluators::cpu {

/// The part of one lane in a memory instruction of its warp.
struct LaneAccess {
  std::uint64_t address = 0;
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0; ///< 1 to 16
};

/// Passes through shared memory that an access takes, and that it would take without bank
/// conflicts.
struct SharedCost {
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal = 0;
};

/// Follows the documentation of NVIDIA GPUs since compute capability 5.0 (CUDA C++ Programming
/// Guide, "Shared Memory"): 32 banks of 4 bytes, and any number of lanes may read the same word
/// together. Accesses of 8 bytes are served per half warp, accesses of 16 bytes per quarter.
SharedCost shared_cost(std::span<const LaneAccess> access);

/// Number of distinct 32-byte sectors of global memory that the lanes touch.
std::uint64_t global_sectors(std::span<const LaneAccess> access);

/// Merges two accesses of a warp that follow each other in every lane's program. A compiler may
/// split a vector access (a float4 into four), which is one access on a GPU. `next` is merged into
/// `access` when the same lanes do both, each lane continues where its first access ended, and
/// every lane's merged access is aligned like a vector and has at most 16 bytes. Returns whether it
/// merged them.
bool extend_access(std::vector<LaneAccess>& access, std::span<const LaneAccess> next);

} // namespace winnow::evaluators::cpu
