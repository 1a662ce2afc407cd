#pragma once

#include "harness/baseline/torch_process.h"
#include "tasks/task/host_tensor.h"
#include "tasks/task/task.h"

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

/// Runs reference.py with PyTorch on the CPU at every tiny shape: in double precision if the module
/// allows it, otherwise in its own precision. Throws Error with what to install if PyTorch is
/// missing.
ReferenceSamples run_torch(const tasks::Task& task, TorchProcessOptions options,
                           std::uint64_t seed);

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

} // namespace winnow::harness
