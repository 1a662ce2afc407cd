#pragma once

#include "base/availability.h"
#include "harness/config/config.h"
#include "process/escape_attempts.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// One thing that Winnow may need, and whether it is there.
struct Finding {
  std::string group; ///< "device", "compiler", "isolation", "endpoint", "store", "catalogue"
  std::string name;
  Availability availability;
};

/// Looks at this machine. Calls no endpoint, but looks whether local servers listen; writes only a
/// probe file beside the store.
std::vector<Finding> examine_machine(const RunConfig& config);
bool any_device_usable(const std::vector<Finding>& findings);

/// What a candidate's process can do at each isolation level that works here, and whether a GPU's
/// worker gets its context there.
struct IsolationTable {
  struct Level {
    std::string name;
    std::vector<process::EscapeAttempt> attempts;               ///< the same ones at every level
    std::vector<std::pair<std::string, Availability>> contexts; ///< by GPU: likewise
  };
  std::vector<Level> levels;
};
IsolationTable try_isolation(); ///< Throws Error when an attempt cannot be made.
std::string to_string(const IsolationTable& table);

std::string doctor_text(const std::vector<Finding>& findings);
/// Schema "winnow.doctor", version 1.
nlohmann::json doctor_json(const std::vector<Finding>& findings);

} // namespace winnow::harness
