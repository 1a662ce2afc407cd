#pragma once

#include "base/availability.h"
#include "process/sandbox.h"
#include "profiling/counters/counter_report.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/plan_resolve.h"
#include "tasks/result/evaluation.h"
#include "tasks/task.h"

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

/// Raised whenever a change here could change a verdict or a rank; stored with every evaluation.
constexpr int kEvaluatorVersion = 8;

/// A device, and whether it can be used on this machine. A kind that this build knows but the
/// machine has none of is there once, with the reason.
struct DeviceReport {
  std::string kind; ///< "cpu", "cuda", "hip"
  std::string id;   ///< "cpu", "cuda:0", "hip:1"
  std::string name;
  std::string uuid;   ///< GPUs
  std::string driver; ///< GPUs: version
  Availability availability;
  tasks::DeviceFacts facts;
};
/// Asks the GPUs' drivers in a child process; the first answer counts for the whole process.
const std::vector<DeviceReport>& probe_devices();
/// Opens a context on a GPU in a child that is fenced in as its workers are at that level. Not ok
/// while another Winnow has the GPU.
Availability probe_context(const DeviceReport& device, process::Isolation level);
struct ToolReport {
  std::string name; ///< "clang++", "g++", "nvrtc", "hiprtc"
  Availability availability;
};
std::vector<ToolReport> probe_compilers();
/// "best" is the first GPU that works, else the cpu; "cuda" is the first of its kind. Throws
/// UsageError, or DeviceUnavailable with reason and remedy.
DeviceReport select_device(const std::string& name);
/// A list of them, "cuda:0,cuda:1": different devices of one kind and model.
std::vector<DeviceReport> select_devices(const std::string& names);

/// Which counters a profile reads. Auto: the fast ones on a GPU, none on the cpu, where counting
/// takes an instrumented build and many times a run's time.
enum class Counting : std::uint8_t { Off, Auto, Fast, Full };
std::string_view to_string(Counting counting); ///< "off", "auto", "fast", "full"
std::optional<Counting> counting_from_string(std::string_view text);

/// What an evaluation waits for.
struct Waiting {
  std::string file;                   ///< the kernel's; empty: for the reference
  std::string what;                   ///< "runs the tiny shapes"
  std::chrono::milliseconds limit{0}; ///< after so long it is ended
};

struct EvaluationOptions {
  std::string device = "best";
  std::optional<process::Isolation> require_isolation;
  std::optional<std::uint64_t> seed; ///< nullopt: drawn for each evaluation
  int tiny_seeds = 2;                ///< inputs per tiny shape
  bool check = true;                 ///< run check mode on a tiny shape
  bool promotion = true;             ///< hidden shapes gate `correct`
  bool timing = true;
  /// Timings end early where the candidate is clearly slower than what it races against.
  bool stop_when_lost = true;
  bool warm = false; ///< time with warm caches, too
  /// Correct kernels are profiled with these counters (Evaluation::profile).
  Counting counters = Counting::Auto;
  bool energy =
      false; ///< a profile says what a launch costs in energy, too; takes a second a shape
  int max_samples = 200; ///< of each shape and kernel
  bool reuse = true; ///< do not run machine code and launches again that this session has judged
  std::chrono::milliseconds time_budget{0};      ///< sampling per shape and kernel; 0: the device's
  std::chrono::milliseconds run_timeout{10'000}; ///< one worker, one stage
  std::chrono::milliseconds compile_timeout{20'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::filesystem::path cache; ///< empty: cache_directory()
  std::string precheck;        ///< a command that sees every kernel file first; empty: none
  /// Called on an evaluation's thread before it waits for a compiler, a worker or the judge.
  std::function<void(const Waiting&)> waiting;
};

/// Sampling per shape and kernel: what the options say, else what a median needs.
std::chrono::milliseconds time_budget(const EvaluationOptions& options,
                                      std::string_view device_kind);

struct DeviceHost;
/// Opens a device for the evaluators of any number of tasks. Throws Error, DeviceUnavailable.
std::shared_ptr<DeviceHost> open_device(const DeviceReport& device,
                                        const EvaluationOptions& options);
/// Where the time of a device's evaluations has gone so far, and what they cost in workers.
struct HostStatistics {
  double run_seconds = 0;      ///< a worker ran cases
  double judge_seconds = 0;    ///< the judge compared, and ran the reference
  double compile_seconds = 0;  ///< an evaluation waited for a compiler or the cache
  int worker_restarts = 0;     ///< workers that candidates, or the device, have broken
  int recoveries = 0;          ///< candidates that came after one of these restarts...
  double recovery_seconds = 0; ///< ...and what they waited together for a worker that is ready
  double longest_recovery_seconds = 0;
};
HostStatistics statistics(const DeviceHost& host);
/// Compiles for a GPU architecture ("sm_90a", "gfx90a") that this machine need not have and runs
/// nothing: the verdict is NotJudged when it compiles. Throws Error when no compiler works here.
tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const std::string& kind,
                               const std::string& architecture, const EvaluationOptions& options);
/// Compiles ahead what an evaluation of `text` will ask the cache for: each choice of parameters,
/// and with `promotion` the first one for the hidden shapes, which may need other instances of a
/// template. Any thread. Never throws for what the candidate is.
void compile_ahead(DeviceHost& host, const tasks::Task& task, std::string_view text,
                   const std::string& file_name, std::size_t max_variants,
                   const std::function<bool()>& cancelled, bool promotion = true);

/// A correct kernel of the same task that a candidate is raced against.
struct Incumbent {
  tasks::KernelFile file;
  tasks::ParameterChoice parameters;
  std::string name; ///< digest of file and parameters: RaceResult::rival
};

/// Judges candidates of one task on one device: parse, compile, tiny shapes, check mode, search
/// shapes, timing beside the task's baseline, hidden promotion shapes. Compilers, candidates and
/// the reference run in child processes, the reference in one of its own that outlives evaluations
/// and keeps its answers to itself. One evaluation at a time; cancel() from any thread.
class Evaluator {
public:
  Evaluator(tasks::Task task, std::shared_ptr<DeviceHost> host, EvaluationOptions options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete; // owns child processes
  Evaluator& operator=(const Evaluator&) = delete;

  /// Compiles the task's own kernels, so that the first evaluation finds them in the cache. Throws
  /// Error when they do not compile.
  void prepare();
  /// Timings race against this one, too, from now on; nullopt: against the baseline alone.
  void set_incumbent(std::optional<Incumbent> incumbent);
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
  /// One that ends before it begins, with the facts of the device.
  tasks::Evaluation not_begun(tasks::Verdict verdict, std::string detail) const;
  void cancel();
  /// Why the device answers every evaluation with `infrastructure` from now on; empty: it does not.
  std::string quarantine() const;

  const tasks::Task& task() const;
  const DeviceReport& device() const;
  process::Isolation isolation() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entry points of the hidden subcommands; each returns the process's exit code.
int compile_worker_main(std::vector<std::string> arguments);
int compile_gpu_worker_main(std::vector<std::string> arguments);
int run_worker_main(std::vector<std::string> arguments);
int judge_worker_main(std::vector<std::string> arguments);
int device_probe_worker_main(std::vector<std::string> arguments);
int context_probe_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
