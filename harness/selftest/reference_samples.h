#pragma once

#include "tasks/inputs/host_tensor.h"
#include "tasks/task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// What reference.py computes at one shape.
struct ReferenceSample {
  tasks::Shape shape;
  std::uint64_t seed = 0;     ///< of the inputs
  bool float64 = false;       ///< inputs and outputs widened; false: in the task's dtypes
  tasks::HostTensors outputs; ///< f64 in place of floating dtypes when `float64`
};

struct ReferenceSamples {
  std::string torch; ///< version
  std::vector<ReferenceSample> samples;
  std::vector<std::string> notes; ///< shapes without a sample, and why
};

/// Runs reference.py with PyTorch on the cpu at every tiny shape: in double precision if the module
/// can, else as it is. Throws Error, saying what to install, where there is no PyTorch.
ReferenceSamples run_torch(const tasks::Task& task, const std::string& python,
                           std::chrono::milliseconds timeout, std::uint64_t seed);

/// The tensors stored in the task's folder, where there are some. The file: {"schema":
/// "winnow.golden", "version": 1, "torch": version, "samples": [{"shape": id, "axes", "scalars",
/// "seed", "arithmetic": "float64" or "task", "outputs": {tensor: [numbers; "nan", "inf",
/// "-inf"]}}]}. Throws UsageError when it is malformed or no longer fits the task.
std::optional<ReferenceSamples> read_golden(const tasks::Task& task);
ReferenceSamples parse_golden(const tasks::Task& task, const std::string& text,
                              const std::string& file);
/// Samples of more than 4,096 output elements are left out.
std::string golden_text(const ReferenceSamples& samples);
std::filesystem::path golden_file(const tasks::Task& task);
/// The command that writes the task's golden.json, for a shell in the working directory: with the
/// name of a task of the catalogue, else with its folder as it was given.
std::string golden_command(const tasks::Task& task);

} // namespace winnow::harness
