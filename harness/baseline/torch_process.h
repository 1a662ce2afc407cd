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

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The names of what every task has: the model of reference.py, as it is, compiled, and compiled
/// with Triton's kernels tuned (mode "max-autotune-no-cudagraphs").
inline constexpr std::string_view kTorchEager = "torch eager";
inline constexpr std::string_view kTorchCompiled = "torch.compile";
inline constexpr std::string_view kTorchTuned = "torch.compile max-autotune";

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

/// What the task's expert.py offers at a shape.
struct TorchAlternatives {
  std::vector<std::string> names;
  std::string none;  ///< why there is no alternative, as expert.py says; empty: there are some
  std::string error; ///< of expert.py; else empty
};

/// A Python child process that runs a task's reference.py and expert.py with PyTorch. It starts
/// with the first question, and again after it has ended. It is fenced (torch_command()).
class TorchProcess {
public:
  /// `directory` holds inputs and outputs, and the script. No other process may use it. It lies in
  /// the compiled_folder() of the task, where torch's caches are.
  TorchProcess(const tasks::Task& task, std::filesystem::path directory,
               TorchProcessOptions options);

  /// Starts the child unless it runs. Throws Error with what to install if PyTorch is missing or
  /// cannot use the device.
  void start();
  const std::string& version() const { return version_; } ///< of PyTorch; valid after start()
  /// Why kTorchCompiled cannot be used; empty: it can. Valid after start().
  const std::string& no_compile() const { return no_compile_; }

  /// Draws the inputs of the shape from `seed` and stores them for the next answers. reference.cu
  /// gets the same inputs for the same seed. `is_timed`: other values, too, unless all inputs are
  /// larger than kMostOtherBytes, so that launches can take turns with them.
  void write_inputs(const tasks::Shape& shape, std::uint64_t seed, bool is_timed = false);
  /// What expert.py offers at the shape written last.
  TorchAlternatives alternatives();
  /// Runs `name` once on the inputs written last, at their shape. `float64`: widens floating-point
  /// inputs and outputs to double. An error is part of the answer.
  TorchAnswer run(std::string_view name, bool float64 = false);
  /// Times them at the shape written last; they take turns.
  std::vector<TorchAnswer> time(const std::vector<std::string>& names);
  /// The file with the `index`th tensor that is not an input, from the last successful run;
  /// row-major.
  std::filesystem::path output_file(std::size_t index) const;

private:
  process::Command command() const;
  nlohmann::json request(bool float64) const;
  /// The answer, or one whose "error" says why there is none.
  nlohmann::json ask(const nlohmann::json& request);
  void write_set(const char* prefix, std::uint64_t seed, bool with_static) const;
  /// Why there was no answer since `asked`. Ends the child.
  std::string ended(std::chrono::steady_clock::time_point asked);

  const tasks::Task& task_;
  std::filesystem::path directory_;
  TorchProcessOptions options_;
  process::Sandbox sandbox_;
  tasks::Shape shape_;
  bool has_expert_ = false;
  std::unique_ptr<process::ChildProcess> child_;
  std::string version_;
  std::string no_compile_;
};

} // namespace winnow::harness
