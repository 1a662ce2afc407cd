#pragma once

#include "base/files.h"
#include "evaluators/device/device_report.h"
#include "evaluators/messages/arena.h"
#include "process/child_process.h"
#include "process/sandbox.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// The `_torch` child of a device: a fenced Python that runs the PyTorch modules of tasks
/// (torch_child.py). It serves all tasks of a session. Tensors travel through `exchange`, which the
/// `_judge` child has, too, and no candidate.
class TorchChild {
public:
  /// `cache`: a folder where the Python files are kept.
  TorchChild(const process::Sandbox& sandbox, const Arena& exchange, DeviceReport device,
             const std::filesystem::path& cache);
  ~TorchChild();
  TorchChild(const TorchChild&) = delete; // owns the child
  TorchChild& operator=(const TorchChild&) = delete;

  /// Throws Error with what to install if PyTorch is missing or cannot use the device.
  void start();
  /// The Python of the next child; without this, default_python().
  void set_python(std::filesystem::path python) { python_ = std::move(python); }
  /// A folder that stays, for what torch.compile makes (compiled_folder()); without this, a
  /// temporary one.
  void set_scratch(std::filesystem::path folder) { kept_scratch_ = std::move(folder); }
  /// Of PyTorch; valid after start().
  const std::string& version() const { return version_; }
  /// Why torch.compile cannot be used; empty: it can. Valid after start().
  const std::string& no_compile() const { return no_compile_; }
  /// Sends one line and returns the answer. Throws Error when the child has no answer or its answer
  /// has an error; the next question then starts a new child if this one has ended. A cancelled
  /// question ends the child.
  nlohmann::json ask(const std::string& line, std::chrono::milliseconds timeout,
                     const std::function<bool()>& cancelled = {});
  /// The answer to `line`, after the question for inputs that the module computes; empty: none.
  nlohmann::json ask(const std::string& inputs_question, const std::string& line,
                     std::chrono::milliseconds timeout);

private:
  process::Command command() const;
  std::optional<std::string> read_answer(std::chrono::milliseconds timeout,
                                         const std::function<bool()>& cancelled);
  std::string ended();

  const process::Sandbox& sandbox_;
  const Arena& exchange_;
  DeviceReport device_;
  std::filesystem::path folder_; ///< of the Python files
  std::filesystem::path python_; ///< empty: default_python()
  std::unique_ptr<process::ChildProcess> child_;
  std::string version_, no_compile_;
  std::filesystem::path kept_scratch_;        ///< empty: scratch_
  std::optional<TemporaryDirectory> scratch_; ///< all that the child may write to
};

/// A Python script that uses PyTorch.
struct TorchScript {
  std::filesystem::path python; ///< as find_python() gives it
  std::filesystem::path script;
  std::vector<std::string> arguments;
  std::vector<std::filesystem::path> readable; ///< beside Python's own folders
  std::filesystem::path scratch;               ///< all that it may write to
};
/// Runs the script fenced, with the device as the only one that PyTorch sees. Without a time limit.
/// Throws Error when Python does not answer.
process::Command torch_command(const process::Sandbox& sandbox, const TorchScript& script,
                               const DeviceReport& device, std::vector<process::InheritedFd> fds);

/// The folder in `cache` in which what torch.compile made for a task stays. Only children that run
/// no other task's code may write to it, because torch runs what it finds there. Makes it, and
/// removes those of other tasks that were not used for the longest time, so that 64 stay.
std::filesystem::path compiled_folder(const std::filesystem::path& cache,
                                      const std::string& task_digest);

/// Entry point of the hidden subcommand `_torch`: puts up the fence and becomes Python.
int torch_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
