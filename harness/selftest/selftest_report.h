#pragma once

#include "evaluators/selftest/selftest.h"
#include "harness/report/activity.h"
#include "harness/selftest/reference_agreement.h"
#include "tasks/task/task.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::harness {

/// The results of `winnow tasks selftest` for one task.
struct TaskSelftest {
  std::string task;
  std::string digest;
  std::string failure; ///< why there is no result; empty: there is one
  double seconds = 0;  ///< wall time of the proof, beside those of other tasks
  std::vector<evaluators::MutantResult> mutants;
  std::vector<evaluators::NarrowResult> narrowed;
  std::vector<evaluators::KernelResult> honest;
  std::vector<evaluators::KernelResult> wrong; ///< the files of wrong/
  ReferenceAgreement reference;
  bool is_module = false;  ///< the reference is a PyTorch module, so nothing must agree with it
  std::string memorisable; ///< tasks::why_timings_can_be_memorised() on this device
  std::vector<std::string> doubts;                    ///< evaluators::Selftest::doubts()
  tasks::Precision precision = tasks::Precision::F32; ///< Tolerance::accumulate
};

/// Points that do not refute a task but need a look, one sentence each: doubts from the task's own
/// figures, timings that can be memorised, a tolerance far above the error of every honest kernel,
/// a reference without marked intermediates.
std::vector<std::string> warnings(const TaskSelftest& selftest);

/// True if no mutant is accepted and some are rejected, each narrowed intermediate is accepted or
/// rejected as the task says, no honest kernel is rejected and some are accepted, no wrong kernel
/// is accepted, and reference.cu agrees with reference.py or reference.py is the reference.
bool is_proven(const TaskSelftest& selftest);

/// What the report says of one task.
std::string task_lines(const TaskSelftest& selftest, bool verbose = false);

struct SelftestReport {
  std::string device;
  std::string device_name;
  std::uint64_t seed = 0; ///< the same --seed repeats the run
  std::vector<TaskSelftest> tasks;
};

/// A table of mutants by task, then the other results of each task. `verbose`: with the errors of
/// narrowed intermediates and of kernels at the search shapes.
std::string to_text(const SelftestReport& report, bool verbose = false);
/// Schema "winnow.selftest", version 3.
std::string to_json_text(const SelftestReport& report);

struct ProofOptions {
  evaluators::SelftestOptions selftest;
  AgreementOptions agreement;
  unsigned jobs = 0; ///< tasks to prove side by side; 0: suitable_jobs()
};

/// Two on the CPU device: the kernels of one use all cores while another compiles. On a GPU one for
/// each two cores, but at most eight.
unsigned suitable_jobs(const evaluators::DeviceReport& device);

/// The proofs of all tasks, in their order. `activity` shows the parts; stderr gets a line for each
/// task that ends, and at once all that the report says of a task that is not proven. A task that
/// throws Error beside others is proved again alone; if it fails there, too, its result says so.
/// Throws the error of a task that is the only one, UsageError and DeviceUnavailable.
std::vector<TaskSelftest> prove_tasks(const std::vector<tasks::Task>& tasks,
                                      const std::shared_ptr<evaluators::DeviceHost>& host,
                                      const ProofOptions& options, Activity& activity);

} // namespace winnow::harness
