#pragma once

#include "tasks/task/task.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

// Whether `winnow tasks selftest` has proven a revision of a task on a kind of device: one small
// file each in the folder `proofs` of user_state_directory().

/// Throws Error if the file cannot be written.
void keep_proof(std::string_view digest, std::string_view device_kind, bool is_proven);

/// A revision of a task, as a task in memory or a row of a store has it.
struct ProofSubject {
  std::string name, digest;
  bool is_own = false; ///< not in the catalogue
  std::string word;    ///< names the task on a command line
};

/// "the task x is not proven on cpu: run `winnow tasks selftest x --device cpu`". Empty: a selftest
/// has proven it, or it is in the catalogue, which the project proves, and no selftest failed. All
/// outputs show these words.
std::string unproven_note(const ProofSubject& task, std::string_view device_kind);

/// A line for stderr about those of the tasks that are not proven; empty: all are.
std::string unproven_warning(const std::vector<Task>& tasks, std::string_view device_kind);

} // namespace winnow::tasks
