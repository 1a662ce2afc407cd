#pragma once

#include "tasks/expression/expression.h"

#include <cstdint>
#include <string>

namespace winnow::tasks {

/// What expressions may ask of a device, and what launches are checked against.
struct DeviceFacts {
  std::int64_t sm_count = 1;
  std::int64_t warp_size = 32;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_shared_bytes = 232448; ///< dynamic + static, per block
  std::int64_t max_grid_x = 2147483647;
  std::int64_t max_grid_y = 65535;
  std::int64_t max_grid_z = 65535;
  std::int64_t max_block_z = 64;
  std::int64_t max_threads_per_launch = std::int64_t{1} << 40; ///< a device that is slow sets less
  std::int64_t memory_bytes = std::int64_t{1} << 30;           ///< for scratch
  std::int64_t max_steps = 100000;                             ///< launches after repeats unroll
  // What follows is 0 or empty where a device has no such thing.
  std::string architecture;            ///< compile target: "sm_90a", "gfx90a"
  std::int64_t max_cluster_blocks = 0; ///< blocks in a cluster that every device accepts
  bool cooperative = true;             ///< grid-wide barriers
  bool tensor_maps = false;
  std::int64_t max_static_shared_bytes = 232448; ///< what a kernel may declare
  std::int64_t max_threads_per_sm = 0;
  std::int64_t max_blocks_per_sm = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t registers_per_block = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t reserved_shared_bytes = 0; ///< per block, taken by the system
  std::int64_t l2_bytes = 0;
  double peak_bytes_per_second = 0; ///< of device memory: the floor under any timing; 0: unknown
  double clock_mhz = 0;             ///< of multiprocessors, rated at most; 0: unknown
};

/// Sets the facts that expressions may use under their names ("sm_count", "l2_bytes", ...).
void bind_facts(const DeviceFacts& facts, Scope& scope);

} // namespace winnow::tasks
