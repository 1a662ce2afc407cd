#include "evaluators/device/gpu/gpu_probe.h"

#include "tasks/json/json_fields.h"
#include "tasks/plan/device_facts_codec.h"

namespace winnow {

WINNOW_FIELDS(Availability, ok, detail, why, remedy)

} // namespace winnow

namespace winnow::evaluators {

WINNOW_FIELDS(GpuProbe, ordinal, name, uuid, pci_bus_id, driver, facts, availability)

void to_json(nlohmann::json& json, const GpuProbe& probe) {
  json = tasks::write_json(probe);
}

void from_json(const nlohmann::json& json, GpuProbe& probe) {
  tasks::read_json(json, "probe", probe);
}

} // namespace winnow::evaluators
