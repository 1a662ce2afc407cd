#pragma once

#include "evaluators/evaluation/evaluator.h"
#include "process/child_process.h"
#include "tasks/task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace winnow::harness {

/// How the model in reference.py is run.
enum class TorchMode : std::uint8_t { Eager, Compiled };
std::string_view to_string(TorchMode mode); ///< "torch eager", "torch.compile"

struct TorchProcessOptions {
  std::filesystem::path python; ///< of the program
  evaluators::DeviceReport device;
  std::chrono::milliseconds timeout{0}; ///< one answer: load, compile, run, time
  std::chrono::milliseconds budget{0};  ///< of the samples of one shape
};

struct TorchAnswer {
  std::string error; ///< why there is none; empty: there is one
  std::vector<double> times_ns;
};

/// A Python child that runs a task's reference.py with PyTorch. It is started for the first
/// question and again after it has ended. It has no fence: reference.py is the task's own file. Of
/// this process's environment it gets PATH, HOME and LD_LIBRARY_PATH only.
class TorchProcess {
public:
  /// `directory` is for this process alone: inputs and outputs, the script, torch's caches.
  TorchProcess(const tasks::Task& task, std::filesystem::path directory,
               TorchProcessOptions options);

  /// Starts it unless it runs. Throws Error, saying what to install, where PyTorch is missing or
  /// cannot use the device.
  void start();
  const std::string& version() const { return version_; } ///< of PyTorch, after start()
  /// Why TorchMode::Compiled is not to be asked for, after start(); empty: it is.
  const std::string& no_compile() const { return no_compile_; }

  /// Draws the inputs of the shape from `seed` (the same ones that reference.cu gets) and leaves
  /// them for the following answers.
  void write_inputs(const tasks::Shape& shape, std::uint64_t seed);
  /// Runs the model on the inputs written last, at the shape they are of; with `timed` takes
  /// samples too; with `float64` the floating tensors are widened, the outputs too. What goes wrong
  /// is in the answer.
  TorchAnswer run(TorchMode mode, bool timed, bool float64 = false);
  /// Of the last run that gave an answer, for the `index`th tensor that is no input: row-major.
  std::filesystem::path output_file(std::size_t index) const;

private:
  process::Command command() const;
  std::string request(TorchMode mode, bool timed, bool float64) const;
  /// Why there was no answer since `asked`; the child is gone after it.
  std::string ended(std::chrono::steady_clock::time_point asked);

  const tasks::Task& task_;
  std::filesystem::path directory_;
  TorchProcessOptions options_;
  tasks::Shape shape_;
  std::unique_ptr<process::ChildProcess> child_;
  std::string version_;
  std::string no_compile_;
};

/// The path of a program named as on a command line. Throws UsageError when there is none.
std::filesystem::path find_python(const std::string& name);

} // namespace winnow::harness
