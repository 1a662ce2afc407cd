#include "evaluators/device/device_report.h"

#include "tasks/json/json_fields.h"
#include "tasks/plan/device_facts.h"

namespace winnow {

WINNOW_FIELDS(Availability, ok, detail, why, remedy)

} // namespace winnow

namespace winnow::evaluators {

WINNOW_FIELDS(DeviceReport, kind, id, name, uuid, driver, availability, facts)

DeviceReport no_device(std::string_view kind, const std::string& why, const std::string& remedy) {
  DeviceReport none;
  none.kind = none.id = kind;
  none.availability = Availability::no(why, remedy);
  return none;
}

void to_json(nlohmann::json& json, const DeviceReport& report) {
  json = tasks::write_json(report);
}

void from_json(const nlohmann::json& json, DeviceReport& report) {
  tasks::read_json(json, "report", report);
}

} // namespace winnow::evaluators
