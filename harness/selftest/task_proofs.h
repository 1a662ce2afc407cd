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
  unsigned jobs = 0; ///< tasks to prove side by side; 0: suitable_jobs()
};

/// One on the CPU device, whose kernels use all cores. On a GPU one for each two cores, but at most
/// six.
unsigned suitable_jobs(const evaluators::DeviceReport& device);

/// The proofs of all tasks, in their order. `activity` shows the parts; stderr gets a line for each
/// task that ends, and at once all that the report says of a task that is not proven. Throws the
/// first error of a task, after the tasks beside it have ended.
std::vector<TaskSelftest> prove_tasks(const std::vector<tasks::Task>& tasks,
                                      const std::shared_ptr<evaluators::DeviceHost>& host,
                                      const ProofOptions& options, Activity& activity);

} // namespace winnow::harness
