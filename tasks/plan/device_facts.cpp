#include "tasks/plan/device_facts.h"

namespace winnow::tasks {

void bind_facts(const DeviceFacts& facts, Scope& scope) {
  scope.set("sm_count", facts.sm_count);
  scope.set("warp_size", facts.warp_size);
  scope.set("max_threads_per_block", facts.max_threads_per_block);
  scope.set("max_shared_bytes", facts.max_shared_bytes);
  scope.set("max_static_shared_bytes", facts.max_static_shared_bytes);
  scope.set("max_grid_x", facts.max_grid_x);
  scope.set("max_grid_y", facts.max_grid_y);
  scope.set("max_grid_z", facts.max_grid_z);
  scope.set("max_cluster_blocks", facts.max_cluster_blocks);
  scope.set("max_threads_per_sm", facts.max_threads_per_sm);
  scope.set("max_blocks_per_sm", facts.max_blocks_per_sm);
  scope.set("registers_per_sm", facts.registers_per_sm);
  scope.set("shared_bytes_per_sm", facts.shared_bytes_per_sm);
  scope.set("l2_bytes", facts.l2_bytes);
  scope.set("has_cooperative", std::int64_t{facts.cooperative});
  scope.set("has_tensor_maps", std::int64_t{facts.tensor_maps});
}

} // namespace winnow::tasks
