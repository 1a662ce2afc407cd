#pragma once

#include "base/availability.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <string>

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

} // namespace winnow::evaluators
