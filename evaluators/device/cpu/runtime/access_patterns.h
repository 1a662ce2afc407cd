#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow::evaluators::cpu {

/// What one lane does in one memory instruction of its warp.
struct LaneAccess {
  std::uint64_t address = 0;
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0; ///< 1 to 16
};

/// Passes through shared memory that an access takes, and without any bank conflict.
struct SharedCost {
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal = 0;
};

/// As documented for NVIDIA GPUs since compute capability 5.0 (CUDA C++ Programming Guide, "Shared
/// Memory"): 32 banks of 4 bytes, any number of lanes may read one word together. Accesses of 8
/// bytes are served by half warps, of 16 by quarters.
SharedCost shared_cost(std::span<const LaneAccess> access);

/// Distinct 32-byte sectors of global memory that the lanes touch.
std::uint64_t global_sectors(std::span<const LaneAccess> access);

/// Instructions of a warp that follow each other in every lane's program. A compiler that takes
/// apart vectors (float4 in four) makes several accesses of what is one on a GPU: `next` is put
/// behind `access` when the same lanes do both, each goes on where it has ended, and every lane's
/// sum is aligned as vectors are, up to 16 bytes. Returns whether it did.
bool extend_access(std::vector<LaneAccess>& access, std::span<const LaneAccess> next);

} // namespace winnow::evaluators::cpu
