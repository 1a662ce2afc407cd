#include "tasks/plan_resolve.h"

namespace winnow::tasks {

void bind_facts(const DeviceFacts& facts, Scope& scope) {
  scope.set("sm_count", facts.sm_count);
  scope.set("warp_size", facts.warp_size);
  scope.set("max_threads_per_block", facts.max_threads_per_block);
  scope.set("max_shared_bytes", facts.max_shared_bytes);
  scope.set("max_grid_x", facts.max_grid_x);
  scope.set("max_grid_y", facts.max_grid_y);
  scope.set("max_grid_z", facts.max_grid_z);
}

} // namespace winnow::tasks
