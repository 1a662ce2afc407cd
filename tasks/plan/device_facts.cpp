#include "tasks/plan/device_facts.h"

#include <utility>
#include <vector>

namespace winnow::tasks {
namespace {

/// In the order in which messages list the names, the last one first.
std::vector<std::pair<std::string, std::int64_t>> named(const DeviceFacts& facts) {
  return {{"sm_count", facts.sm_count},
          {"warp_size", facts.warp_size},
          {"max_threads_per_block", facts.max_threads_per_block},
          {"max_shared_bytes", facts.max_shared_bytes},
          {"max_static_shared_bytes", facts.max_static_shared_bytes},
          {"max_grid_x", facts.max_grid_x},
          {"max_grid_y", facts.max_grid_y},
          {"max_grid_z", facts.max_grid_z},
          {"max_cluster_blocks", facts.max_cluster_blocks},
          {"max_threads_per_sm", facts.max_threads_per_sm},
          {"max_blocks_per_sm", facts.max_blocks_per_sm},
          {"registers_per_sm", facts.registers_per_sm},
          {"shared_bytes_per_sm", facts.shared_bytes_per_sm},
          {"l2_bytes", facts.l2_bytes},
          {"has_cooperative", std::int64_t{facts.cooperative}},
          {"has_tensor_maps", std::int64_t{facts.tensor_maps}}};
}

} // namespace

void bind_facts(const DeviceFacts& facts, Scope& scope) {
  for (const auto& [name, value] : named(facts)) {
    scope.set(name, value);
  }
}

FactValues fact_values(const DeviceFacts& facts) {
  const auto values = named(facts);
  return {values.begin(), values.end()};
}

} // namespace winnow::tasks
