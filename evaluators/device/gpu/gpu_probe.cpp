#include "evaluators/device/gpu/gpu_probe.h"

#include "tasks/json_fields.h"

namespace winnow {

WINNOW_JSON_FIELDS(Availability, ok, detail, why, remedy)

} // namespace winnow

namespace winnow::tasks {

WINNOW_JSON_FIELDS(DeviceFacts, sm_count, warp_size, max_threads_per_block, max_shared_bytes,
                   max_grid_x, max_grid_y, max_grid_z, max_block_z, max_threads_per_launch,
                   memory_bytes, max_steps, architecture, max_cluster_blocks, cooperative,
                   tensor_maps, max_static_shared_bytes, max_threads_per_sm, max_blocks_per_sm,
                   registers_per_sm, registers_per_block, shared_bytes_per_sm,
                   reserved_shared_bytes, l2_bytes, peak_bytes_per_second, clock_mhz)

} // namespace winnow::tasks

namespace winnow::evaluators {

WINNOW_JSON_FIELDS(GpuProbe, ordinal, name, uuid, pci_bus_id, driver, facts, availability)

void to_json(nlohmann::json& json, const GpuProbe& probe) {
  json = tasks::write_json(probe);
}

void from_json(const nlohmann::json& json, GpuProbe& probe) {
  tasks::read_json(json, "probe", probe);
}

} // namespace winnow::evaluators
