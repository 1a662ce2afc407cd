#pragma once

#include "evaluators/device/device_report.h"
#include "process/child_process.h"
#include "process/sandbox.h"
#include "tasks/task/task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// The two ways to run the model in reference.py.
enum class TorchMode : std::uint8_t { Eager, Compiled };
std::string_view to_string(TorchMode mode); ///< "torch eager", "torch.compile"

struct TorchProcessOptions {
  std::filesystem::path python;                ///< the Python program
  std::optional<process::Isolation> isolation; ///< the weakest that will do
  evaluators::DeviceReport device;
  std::chrono::milliseconds timeout{0}; ///< for one answer: load, compile, run, time
  std::chrono::milliseconds budget{0};  ///< for the samples of one shape
};

struct TorchAnswer {
  std::string error; ///< why there is no answer; empty: there is one
  std::vector<double> times_ns;
};

/// A Python child process that runs a task's reference.py with PyTorch. It starts with the first
/// question, and again after it has ended. It is fenced (torch_command()).
class TorchProcess {
public:
  /// `directory` holds inputs and outputs, the script and torch's caches. No other process may use
  /// it.
  TorchProcess(const tasks::Task& task, std::filesystem::path directory,
               TorchProcessOptions options);

  /// Starts the child unless it runs. Throws Error with what to install if PyTorch is missing or
  /// cannot use the device.
  void start();
  const std::string& version() const { return version_; } ///< of PyTorch; valid after start()
  /// Why TorchMode::Compiled cannot be used; empty: it can. Valid after start().
  const std::string& no_compile() const { return no_compile_; }

  /// Draws the inputs of the shape from `seed` and stores them for the next answers. reference.cu
  /// gets the same inputs for the same seed.
  void write_inputs(const tasks::Shape& shape, std::uint64_t seed);
  /// Runs the model on the inputs written last, at their shape. `timed`: also takes samples.
  /// `float64`: widens floating-point inputs and outputs to double. An error is part of the answer.
  TorchAnswer run(TorchMode mode, bool timed, bool float64 = false);
  /// The file with the `index`th tensor that is not an input, from the last successful run;
  /// row-major.
  std::filesystem::path output_file(std::size_t index) const;

private:
  process::Command command() const;
  std::string request(TorchMode mode, bool timed, bool float64) const;
  /// Why there was no answer since `asked`. Ends the child.
  std::string ended(std::chrono::steady_clock::time_point asked);

  const tasks::Task& task_;
  std::filesystem::path directory_;
  TorchProcessOptions options_;
  process::Sandbox sandbox_;
  tasks::Shape shape_;
  std::unique_ptr<process::ChildProcess> child_;
  std::string version_;
  std::string no_compile_;
};

} // namespace winnow::harness
