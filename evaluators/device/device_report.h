#pragma once

#include "base/availability.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// A device, and whether this machine can use it. If the machine has no device of a supported kind,
/// the list has one entry for the kind that says why.
struct DeviceReport {
  std::string kind; ///< "cpu", "cuda", "hip"
  std::string id;   ///< "cpu", "cuda:0", "hip:1"
  std::string name;
  std::string uuid;   ///< GPUs only
  std::string driver; ///< GPUs only: version of the driver
  Availability availability;
  tasks::DeviceFacts facts;
};

/// The entry of a kind of which there is no device.
DeviceReport no_device(std::string_view kind, const std::string& why, const std::string& remedy);

/// The format in which a probing child reports. from_json throws Error.
void to_json(nlohmann::json& json, const DeviceReport& report);
void from_json(const nlohmann::json& json, DeviceReport& report);

} // namespace winnow::evaluators
