#pragma once

#include "base/availability.h"
#include "evaluators/process/sandbox.h"
#include "tasks/evaluation.h"
#include "tasks/kernel_file.h"
#include "tasks/plan_resolve.h"
#include "tasks/task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Raised whenever a change here could change a verdict or a rank; stored with every evaluation.
constexpr int kEvaluatorVersion = 1;

/// A device kind that this build knows, and whether it can be used on this machine.
struct DeviceReport {
  std::string kind; ///< "cpu", "cuda", "hip"
  std::string name;
  Availability availability;
  tasks::DeviceFacts facts;
};
std::vector<DeviceReport> probe_devices();
struct ToolReport {
  std::string name; ///< "clang++", "g++", "ld"
  Availability availability;
};
std::vector<ToolReport> probe_compilers();
/// "best" resolves to the fastest kind available. Throws DeviceUnavailable with reason and remedy.
DeviceReport select_device(const std::string& kind);

struct EvaluationOptions {
  std::string device = "best";
  std::optional<Isolation> require_isolation;
  std::uint64_t seed = 1; ///< inputs derive from it
  int tiny_seeds = 2;     ///< inputs per tiny shape
  bool check = true;      ///< run check mode on a tiny shape
  bool promotion = true;  ///< hidden shapes gate `correct`
  bool timing = true;
  std::chrono::milliseconds time_budget{150};    ///< sampling per shape and kernel
  std::chrono::milliseconds run_timeout{10'000}; ///< one worker, one stage
  std::chrono::milliseconds compile_timeout{20'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::filesystem::path cache; ///< empty: cache_directory()
};

/// Judges candidates of one task on one device: parse, compile, tiny shapes, check mode, search
/// shapes, timing beside the task's baseline, hidden promotion shapes. Compilers, candidates and
/// the reference run in child processes, the reference in one of its own that outlives evaluations
/// and keeps its answers to itself. One evaluation at a time; cancel() from any thread.
class Evaluator {
public:
  Evaluator(tasks::Task task, EvaluationOptions options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete; // owns child processes
  Evaluator& operator=(const Evaluator&) = delete;

  /// Never throws for what the candidate is or does. Infrastructure faults are retried once, then
  /// reported as such. `parameters` must be one of parameter_choices().
  tasks::Evaluation evaluate(const tasks::KernelFile& candidate,
                             const tasks::ParameterChoice& parameters);
  /// As evaluate(), from text: parse mistakes become `bad_plan` (or `bad_reply` without any code).
  tasks::Evaluation evaluate_text(std::string_view text, std::string file_name);
  /// Every allowed variant up to `max_variants`: the default in full, the others as far as a quick
  /// timing, then the fastest in full. The first element is the one that counts for the candidate.
  std::vector<tasks::Evaluation> evaluate_family(const tasks::KernelFile& candidate,
                                                 std::size_t max_variants);
  void cancel();

  const tasks::Task& task() const;
  const DeviceReport& device() const;
  Isolation isolation() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entry points of the hidden subcommands; each returns the process's exit code.
int compile_worker_main(std::vector<std::string> arguments);
int compile_gpu_worker_main(std::vector<std::string> arguments);
int run_worker_main(std::vector<std::string> arguments);
int judge_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
