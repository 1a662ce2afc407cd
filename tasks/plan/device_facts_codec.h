#pragma once

#include "tasks/json/json_fields.h"
#include "tasks/plan/device_facts.h"

namespace winnow::tasks {

WINNOW_FIELDS(DeviceFacts, sm_count, warp_size, max_threads_per_block, max_shared_bytes, max_grid_x,
              max_grid_y, max_grid_z, max_block_z, max_threads_per_launch, memory_bytes, max_steps,
              architecture, max_cluster_blocks, cooperative, tensor_maps, max_static_shared_bytes,
              max_threads_per_sm, max_blocks_per_sm, registers_per_sm, registers_per_block,
              shared_bytes_per_sm, reserved_shared_bytes, l2_bytes, peak_bytes_per_second,
              clock_mhz)

} // namespace winnow::tasks
