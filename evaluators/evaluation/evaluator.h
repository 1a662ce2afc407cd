#pragma once

#include "base/availability.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "process/sandbox.h"
#include "profiling/counters/counter_report.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Raised with every change that could change a verdict or a rank. Stored with every evaluation.
constexpr int kEvaluatorVersion = 12;

/// The facts about every evaluation that are known before it begins: the device, its name, the
/// isolation level, the time and the version of the evaluator.
tasks::Evaluation blank_evaluation(std::string_view device, std::string_view device_name,
                                   std::string_view isolation = {});

/// The evaluation of a candidate that the machine failed to judge, for example because its worker
/// died.
tasks::Evaluation machine_fault(std::string_view device, std::string_view device_name,
                                std::string detail);

/// A device, and whether this machine can use it. If the machine has no device of a supported kind,
/// the list has one entry for the kind that says why.
struct DeviceReport {
  std::string kind; ///< "cpu", "cuda", "hip"
  std::string id;   ///< "cpu", "cuda:0", "hip:1"
  std::string name;
  std::string uuid;   ///< GPUs only
  std::string driver; ///< GPUs only: version of the driver
  Availability availability;
  tasks::DeviceFacts facts;
};
/// Asks the GPU drivers in a child process. The process keeps the first answer; later calls return
/// it.
const std::vector<DeviceReport>& probe_devices();
/// Opens a context on a GPU in a child process with the same fences as a worker of that level. Not
/// available while another Winnow process uses the GPU.
Availability probe_context(const DeviceReport& device, process::Isolation level);
struct ToolReport {
  std::string name; ///< "clang++", "g++", "nvrtc", "hiprtc"
  Availability availability;
};
std::vector<ToolReport> probe_compilers();
/// "best" is the first GPU that works, or the CPU if none does. "cuda" is the first device of that
/// kind. Throws UsageError, or DeviceUnavailable with the reason and the remedy.
DeviceReport select_device(const std::string& name);
/// Accepts a list of names, "cuda:0,cuda:1". The devices must be different, of one kind and one
/// model.
std::vector<DeviceReport> select_devices(const std::string& names);

struct DeviceHost;
/// Opens a device. Evaluators of any number of tasks can share it. `run_timeout`: of one run in a
/// worker or the judge that stays, see Protocol. Throws Error, DeviceUnavailable.
std::shared_ptr<DeviceHost> open_device(const DeviceReport& device, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout);
/// Opens the device of `open` once more, for work that shares the device because its times do not
/// count. Throws as open_device().
std::shared_ptr<DeviceHost> open_beside(const DeviceHost& open, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout);
/// How the evaluations on a device have spent their time so far, and how often workers were
/// replaced.
struct HostStatistics {
  double run_seconds = 0;      ///< workers ran cases
  double judge_seconds = 0;    ///< the judge compared outputs and ran the reference
  double compile_seconds = 0;  ///< evaluations waited for a compiler or the cache
  int judge_starts = 0;        ///< `_judge` children: one, and one after each failure of one
  int worker_restarts = 0;     ///< workers that a candidate or the device broke
  int recoveries = 0;          ///< candidates that had to wait for a worker after such a restart
  double recovery_seconds = 0; ///< total time that these candidates waited
  double longest_recovery_seconds = 0;
};
HostStatistics statistics(const DeviceHost& host);
/// Why the device is quarantined: it answers every evaluation with `infrastructure` from now on.
/// Empty: not quarantined.
std::string quarantine(const DeviceHost& host);
/// Compiles for a GPU architecture ("sm_90a", "gfx90a") and runs nothing. The machine needs no such
/// GPU. The verdict is NotJudged when the code compiles. Throws Error when no compiler works on
/// this machine.
tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const std::string& kind,
                               const std::string& architecture, const MachineOptions& machine);
/// Compiles into the cache what the request will need: one module for each choice of parameters.
/// In depth Full the hidden shapes may need other instances of a template. Any thread. Never throws
/// because of the candidate.
void compile_ahead(DeviceHost& host, const EvaluationRequest& request,
                   const std::function<bool()>& cancelled);

/// Judges candidates of one task on one device. The stages are: parse, compile, tiny shapes, check
/// mode, search shapes, timing beside the task's baseline, hidden promotion shapes. Compilers,
/// candidates and the reference run in child processes. The reference has a process of its own,
/// which serves many evaluations and does not pass its outputs on. One evaluation at a time;
/// cancel() from any thread.
class Evaluator {
public:
  Evaluator(tasks::Task task, std::shared_ptr<DeviceHost> host, EvaluationOptions options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete; // owns child processes
  Evaluator& operator=(const Evaluator&) = delete;

  /// Compiles the task's own kernels into the cache before the first evaluation. Throws Error when
  /// they do not compile.
  void prepare();
  /// Does all that the request asks, except that task and protocol are the evaluator's own.
  std::vector<tasks::Evaluation> evaluate(const EvaluationRequest& request);
  /// From now on, timings race the candidate against this kernel as well as the baseline. nullopt:
  /// against the baseline alone.
  void set_incumbent(const std::optional<KernelToBeat>& incumbent);
  /// Never throws because of the candidate. An infrastructure fault is retried once, then reported.
  /// `parameters` must be one of parameter_choices().
  tasks::Evaluation evaluate(const tasks::KernelFile& candidate,
                             const tasks::ParameterChoice& parameters, Depth depth = Depth::Full);
  /// Parses `text` and evaluates its default choice of parameters. A parse error gives the verdict
  /// `bad_plan`, or `bad_reply` if the text has no code.
  tasks::Evaluation evaluate_text(std::string_view text, std::string file_name);
  /// Ends an evaluation soon. The evaluator stays cancelled.
  void cancel();

  const tasks::Task& task() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entry points of the hidden subcommands. Each returns the exit code of the process.
int compile_worker_main(std::vector<std::string> arguments);
int compile_gpu_worker_main(std::vector<std::string> arguments);
int run_worker_main(std::vector<std::string> arguments);
int judge_worker_main(std::vector<std::string> arguments);
int device_probe_worker_main(std::vector<std::string> arguments);
int context_probe_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
