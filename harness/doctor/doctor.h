#pragma once

#include "base/availability.h"
#include "harness/config/config.h"
#include "process/escape_attempts.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Something that Winnow may need, and whether it is available.
struct Examined {
  std::string group; ///< "device", "compiler", "isolation", "endpoint", "store", "catalogue"
  std::string name;
  Availability availability;
};

/// Examines this machine. Sends no request to a model, but checks whether local servers listen.
/// Writes only a probe file beside the store.
std::vector<Examined> examine_machine(const RunConfig& config);
bool any_device_usable(const std::vector<Examined>& findings);

/// For each isolation level that works here: which escape attempts of a candidate's process
/// succeed, and whether a worker can create a GPU context.
struct IsolationTable {
  struct Level {
    std::string name;
    std::vector<process::EscapeAttempt> attempts; ///< the same attempts at every level
    /// By GPU; the same GPUs at every level.
    std::vector<std::pair<std::string, Availability>> contexts;
  };
  std::vector<Level> levels;
};
IsolationTable try_isolation(); ///< throws Error if an attempt cannot be made
std::string to_string(const IsolationTable& table);

std::string doctor_text(const std::vector<Examined>& findings);
/// Schema "winnow.doctor", version 1.
nlohmann::json doctor_json(const std::vector<Examined>& findings);

} // namespace winnow::harness
