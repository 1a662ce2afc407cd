#pragma once

#include "tasks/expression/expression.h"
#include "tasks/json/json_fields.h"

#include <cstdint>
#include <map>
#include <string>

namespace winnow::tasks {

/// Facts about a device. Expressions of a plan may use some of them; launches are checked against
/// them.
struct DeviceFacts {
  std::int64_t sm_count = 1;
  std::int64_t warp_size = 32;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_shared_bytes = 232448; ///< dynamic + static, per block
  std::int64_t max_grid_x = 2147483647;
  std::int64_t max_grid_y = 65535;
  std::int64_t max_grid_z = 65535;
  std::int64_t max_block_z = 64;
  std::int64_t max_threads_per_launch = std::int64_t{1} << 40; ///< a slow device sets less
  std::int64_t memory_bytes = std::int64_t{1} << 30;           ///< for scratch
  std::int64_t max_steps = 100000;                             ///< launches after repeats unroll
  // A fact below is 0 or empty if the device has no such feature.
  std::string architecture;            ///< compile target: "sm_90a", "gfx90a"
  std::int64_t max_cluster_blocks = 0; ///< the portable maximum of blocks in a cluster
  bool cooperative = true;             ///< grid-wide barriers
  bool tensor_maps = false;
  std::int64_t max_static_shared_bytes = 232448; ///< static shared memory of a kernel
  std::int64_t max_threads_per_sm = 0;
  std::int64_t max_blocks_per_sm = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t registers_per_block = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t reserved_shared_bytes = 0; ///< per block, reserved by the system
  std::int64_t l2_bytes = 0;
  double peak_bytes_per_second = 0; ///< of device memory: bounds timings; 0: unknown
  double clock_mhz = 0;             ///< highest rated clock of the multiprocessors; 0: unknown

  bool operator==(const DeviceFacts&) const = default;
};

/// Puts the facts into `scope` under the names that expressions use ("sm_count", "l2_bytes", ...).
void bind_facts(const DeviceFacts& facts, Scope& scope);

/// Values by those names.
using FactValues = std::map<std::string, std::int64_t>;
FactValues fact_values(const DeviceFacts& facts);

WINNOW_FIELDS(DeviceFacts, sm_count, warp_size, max_threads_per_block, max_shared_bytes, max_grid_x,
              max_grid_y, max_grid_z, max_block_z, max_threads_per_launch, memory_bytes, max_steps,
              architecture, max_cluster_blocks, cooperative, tensor_maps, max_static_shared_bytes,
              max_threads_per_sm, max_blocks_per_sm, registers_per_sm, registers_per_block,
              shared_bytes_per_sm, reserved_shared_bytes, l2_bytes, peak_bytes_per_second,
              clock_mhz)

} // namespace winnow::tasks
