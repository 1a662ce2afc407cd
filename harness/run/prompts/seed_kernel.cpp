#include "harness/run/prompts/seed_kernel.h"

#include "base/error.h"
#include "base/files.h"
#include "tasks/plan/kernel_file.h"

#include <fmt/format.h>

namespace winnow::harness {

std::string lasting_seed(const std::string& seed, const store::RunStore& store,
                         const std::string& task) {
  return seed.starts_with('@') ? fmt::format("@{}", store.candidate_named(seed.substr(1), task))
                               : seed;
}

std::string seed_text(const std::string& seed, const store::RunStore& store,
                      const std::string& task) {
  if (!seed.starts_with('@')) {
    return read_file(seed, tasks::kMaxKernelFileBytes);
  }
  const store::CandidateRow row =
      store.candidate_state(store.candidate_named(seed.substr(1), task)).row;
  if (row.task != task) {
    throw UsageError(fmt::format("run.seed_kernel: candidate {} is a kernel of task {}, not of {}",
                                 row.id, row.task, task),
                     "name a candidate of the task: `winnow leaderboard` lists them");
  }
  return row.text;
}

} // namespace winnow::harness
