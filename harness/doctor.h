#pragma once

#include "base/availability.h"
#include "harness/config.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// One thing that Winnow may need, and whether it is there.
struct Finding {
  std::string group; ///< "device", "compiler", "isolation", "endpoint", "store", "catalogue"
  std::string name;
  Availability availability;
};

/// Looks at this machine. Calls no endpoint; writes only a probe file beside the store.
std::vector<Finding> examine_machine(const RunConfig& config);
bool any_device_usable(const std::vector<Finding>& findings);

/// What a candidate's process can do at each isolation level that works here: a table of attempts
/// by level. Throws Error when none can be tried.
std::string isolation_table();

std::string doctor_text(const std::vector<Finding>& findings);
/// Schema "winnow.doctor", version 1.
nlohmann::json doctor_json(const std::vector<Finding>& findings);

} // namespace winnow::harness
