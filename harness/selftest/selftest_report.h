#pragma once

#include "evaluators/selftest/selftest.h"
#include "harness/selftest/reference_agreement.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// What `winnow tasks selftest` finds out about one task.
struct TaskSelftest {
  std::string task;
  std::string digest;
  std::vector<evaluators::MutantResult> mutants;
  std::vector<evaluators::HonestResult> honest;
  ReferenceAgreement reference;
  std::string memorisable; ///< tasks::why_timings_can_be_memorised() on this device
};

/// No mutant is accepted and some are rejected, no honest kernel is rejected and some are accepted,
/// and reference.cu agrees with reference.py.
bool is_proven(const TaskSelftest& selftest);

struct SelftestReport {
  std::string device;
  std::string device_name;
  std::uint64_t seed = 0; ///< --seed repeats the run
  std::vector<TaskSelftest> tasks;
};

/// A table of mutants by task, then what else there is to say of each task.
std::string to_text(const SelftestReport& report);
/// Schema "winnow.selftest", version 1.
std::string to_json_text(const SelftestReport& report);

} // namespace winnow::harness
