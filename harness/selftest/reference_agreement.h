#pragma once

#include "evaluators/selftest/selftest.h"
#include "harness/selftest/reference_samples.h"
#include "process/sandbox.h"
#include "tasks/task/task.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// The result of a check that a task's reference.cu computes the same as its reference.py at the
/// tiny shapes.
struct ReferenceAgreement {
  enum class State : std::uint8_t { Agrees, Differs, Unchecked };
  State state = State::Unchecked;
  /// "torch 2.5.1", "golden.json (torch 2.5.1)"; empty: nothing to compare with
  std::string source;
  int shapes = 0; ///< number of shapes that were compared
  /// The part of `shapes` compared in float64; the others within the task's tolerance.
  int in_float64 = 0;
  std::vector<std::string> notes; ///< shapes that torch could not run, and why torch was not used
  std::string detail;             ///< Differs: the place and the difference; Unchecked: the reason
};
std::string_view to_string(ReferenceAgreement::State state);

struct AgreementOptions {
  std::string python = "python3";              ///< a name or a path
  std::optional<process::Isolation> isolation; ///< the weakest that will do for it
  std::chrono::milliseconds timeout{120'000};  ///< for one answer of the Python child
  std::uint64_t seed = 1;
};

/// Compares with PyTorch on the CPU if `python` has it, otherwise with the task's golden.json.
/// Throws Error if reference.cu or the judge fails, UsageError if golden.json is malformed or has
/// other shapes.
ReferenceAgreement check_reference(const tasks::Task& task, evaluators::Selftest& selftest,
                                   const AgreementOptions& options);

/// Writes PyTorch's results at the tiny shapes to the task's golden.json. Throws Error if PyTorch
/// is missing, cannot run any shape, or disagrees with reference.cu.
ReferenceAgreement write_golden(const tasks::Task& task, evaluators::Selftest& selftest,
                                const AgreementOptions& options);

/// The first difference between a sample and the result of reference.cu; empty: none. Throws Error
/// as check_reference() does.
std::string difference(const tasks::Task& task, const ReferenceSample& sample,
                       evaluators::Selftest& selftest);

} // namespace winnow::harness
