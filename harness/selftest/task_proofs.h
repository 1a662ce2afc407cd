#pragma once

#include "evaluators/selftest/selftest.h"
#include "harness/report/activity.h"
#include "harness/selftest/selftest_report.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace winnow::harness {

struct ProofOptions {
  evaluators::SelftestOptions selftest;
  AgreementOptions agreement;
  std::size_t jobs = 0; ///< tasks to prove side by side; 0: suitable_jobs()
};

/// One on the CPU device, whose kernels use all cores. On a GPU at most four: one for each four
/// cores and each 24 GiB of the GPU's memory.
std::size_t suitable_jobs(const evaluators::DeviceReport& device);

/// The proofs of all tasks, in their order. `activity` shows the parts; stderr gets a line for each
/// task that ends. Throws the first error of a task, after the tasks beside it have ended.
std::vector<TaskSelftest> prove_tasks(const std::vector<tasks::Task>& tasks,
                                      const std::shared_ptr<evaluators::DeviceHost>& host,
                                      const ProofOptions& options, Activity& activity);

} // namespace winnow::harness
