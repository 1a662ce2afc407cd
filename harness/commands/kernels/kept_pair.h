#pragma once

#include "harness/named/command_store.h"
#include "harness/report/kernel_pair_report.h"
#include "tasks/task/task.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Where what `profile` and `race` measured is kept.
struct KeptPair {
  CommandStore& store;
  std::string asked_by; ///< "profile", "race"
};

/// Puts the evaluations of the pair, and its race, into the store. A kernel that is a candidate of
/// the task gets another measurement, which changes no board. Another kernel becomes a candidate,
/// as `winnow eval --store` does it. Says on stderr what became of each kernel.
void keep_pair(const KeptPair& where, const tasks::Task& task, const nlohmann::json& environment,
               const KernelPair& pair);

} // namespace winnow::harness
