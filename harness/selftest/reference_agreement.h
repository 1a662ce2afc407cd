#pragma once

#include "evaluators/selftest/selftest.h"
#include "harness/baseline/torch_process.h"
#include "process/sandbox.h"
#include "tasks/task/host_tensor.h"
#include "tasks/task/task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// The result of reference.py at one shape.
struct ReferenceSample {
  tasks::Shape shape;
  std::uint64_t seed = 0; ///< seed of the inputs
  /// True: inputs and outputs are widened to double; false: they have the task's dtypes.
  bool float64 = false;
  tasks::HostTensors outputs; ///< f64 instead of other floating dtypes if `float64`
};

struct ReferenceSamples {
  std::string torch; ///< its version
  std::vector<ReferenceSample> samples;
  std::vector<std::string> notes; ///< shapes without a sample, and the reason
};

/// The samples stored in the task's folder; nullopt if there is no file. The file: {"schema":
/// "winnow.golden", "version": 1, "torch": version, "samples": [{"shape": id, "axes", "scalars",
/// "seed", "arithmetic": "float64" or "task", "outputs": {tensor: [numbers; "nan", "inf",
/// "-inf"]}}]}. Throws UsageError if the file is malformed or no longer fits the task.
std::optional<ReferenceSamples> read_golden(const tasks::Task& task);
ReferenceSamples parse_golden(const tasks::Task& task, const std::string& text,
                              const std::string& file);
/// Leaves out samples with more than 4,096 output elements.
std::string golden_text(const ReferenceSamples& samples);
std::filesystem::path golden_file(const tasks::Task& task);
/// The shell command that writes the task's golden.json, for the working directory. It names a task
/// of the catalogue by its name, any other task by its folder as given.
std::string golden_command(const tasks::Task& task);

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
