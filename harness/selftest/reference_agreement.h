#pragma once

#include "evaluators/selftest/selftest.h"
#include "harness/selftest/reference_samples.h"
#include "tasks/task.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace winnow::harness {

/// Whether a task's reference.cu computes what its reference.py says, at the tiny shapes.
struct ReferenceAgreement {
  enum class State : std::uint8_t { Agrees, Differs, Unchecked };
  State state = State::Unchecked;
  std::string
      source;     ///< "torch 2.5.1", "golden.json (torch 2.5.1)"; empty: nothing to compare with
  int shapes = 0; ///< that were compared
  int in_float64 = 0;             ///< of these; the others within the task's tolerance
  std::vector<std::string> notes; ///< shapes that torch could not run, why it was not used
  std::string detail;             ///< Differs: where and how; Unchecked: why
};
std::string_view to_string(ReferenceAgreement::State state);

struct AgreementOptions {
  std::string python = "python3";             ///< a name or a path
  std::chrono::milliseconds timeout{120'000}; ///< one answer of the Python child
  std::uint64_t seed = 1;
};

/// By PyTorch on the cpu where `python` has it, else by the task's golden.json. Throws Error when
/// reference.cu or the judge fails, UsageError when golden.json is malformed or of other shapes.
ReferenceAgreement check_reference(const tasks::Task& task, evaluators::Selftest& selftest,
                                   const AgreementOptions& options);

/// Writes what PyTorch computes at the tiny shapes to the task's golden.json. Throws Error where
/// PyTorch is missing, can run no shape, or disagrees with reference.cu.
ReferenceAgreement write_golden(const tasks::Task& task, evaluators::Selftest& selftest,
                                const AgreementOptions& options);

/// What differs first between a sample and reference.cu; empty: nothing. Throws Error as above.
std::string difference(const tasks::Task& task, const ReferenceSample& sample,
                       evaluators::Selftest& selftest);

} // namespace winnow::harness
