#pragma once

#include "store/run_store.h"
#include "tasks/task/task.h"

#include <string>

namespace winnow::harness {

/// The text of run.seed_kernel: a kernel file, or @ID, a candidate of the store by number or
/// digest. Throws UsageError if there is none, or if the candidate is a kernel of another task.
std::string seed_text(const std::string& seed, const store::RunStore& store,
                      const std::string& task);

/// The same. Also throws UsageError if the text is no kernel file.
std::string checked_seed_text(const std::string& seed, const store::RunStore& store,
                              const tasks::Task& task);

/// @ID with the number of the candidate, which stays when the store grows. A file stays a file.
/// Throws as seed_text() does for a candidate.
std::string lasting_seed(const std::string& seed, const store::RunStore& store,
                         const std::string& task);

/// As a board shows it: the file's name without its folder, or @ID.
std::string seed_name(const std::string& seed);

} // namespace winnow::harness
