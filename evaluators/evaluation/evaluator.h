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

/// Raised with every change that could change a verdict or a rank. Stored with every evaluation.
constexpr int kEvaluatorVersion = 9;

/// The facts about every evaluation that are known before it begins: the device, its name, the
/// isolation level, the time and the version of the evaluator.
tasks::Evaluation blank_evaluation(std::string_view device, std::string_view device_name,
                                   std::string_view isolation = {});

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

/// Which counters a profile reads. Auto: the fast counters on a GPU, and none on the CPU, where
/// counting needs an instrumented build and takes many times as long as a run.
enum class Counting : std::uint8_t { Off, Auto, Fast, Full };
std::string_view to_string(Counting counting); ///< "off", "auto", "fast", "full"
std::optional<Counting> counting_from_string(std::string_view text);

/// Describes the child process that an evaluation waits for.
struct Waiting {
  std::string file;                   ///< the kernel file; empty: the reference
  std::string what;                   ///< "runs the tiny shapes"
  std::chrono::milliseconds limit{0}; ///< the child is ended after this time
};

struct EvaluationOptions {
  std::string device = "best";
  std::optional<process::Isolation> require_isolation;
  std::optional<std::uint64_t> seed; ///< nullopt: each evaluation draws its own
  int tiny_seeds = 2;                ///< number of inputs per tiny shape
  bool check = true;                 ///< run check mode on a tiny shape
  bool promotion = true;             ///< also run the hidden shapes before a candidate is `correct`
  bool timing = true;
  /// End a timing early when the candidate is clearly slower than its rival.
  bool stop_when_lost = true;
  bool warm = false; ///< also time with warm caches
  /// Which counters to read when a correct kernel is profiled (Evaluation::profile).
  Counting counters = Counting::Auto;
  /// Also measure the energy of a launch in a profile; takes a second per shape.
  bool energy = false;
  int max_samples = 200; ///< per shape and kernel
  /// Do not run a candidate if this session has judged the same machine code and launches already.
  bool reuse = true;
  std::chrono::milliseconds time_budget{0};      ///< per shape and kernel; 0: device default
  std::chrono::milliseconds run_timeout{10'000}; ///< for one stage in one worker
  std::chrono::milliseconds compile_timeout{20'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::filesystem::path cache; ///< empty: cache_directory()
  std::string precheck;        ///< a command that checks every kernel file first; empty: none
  /// Called on the evaluation's thread before it waits for a compiler, a worker or the judge.
  std::function<void(const Waiting&)> waiting;
};

/// Sampling time per shape and kernel: `options.time_budget`, or the default of the device if that
/// is 0.
std::chrono::milliseconds time_budget(const EvaluationOptions& options,
                                      std::string_view device_kind);

struct DeviceHost;
/// Opens a device. Evaluators of any number of tasks can share it. Throws Error, DeviceUnavailable.
std::shared_ptr<DeviceHost> open_device(const DeviceReport& device,
                                        const EvaluationOptions& options);
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
/// Compiles for a GPU architecture ("sm_90a", "gfx90a") and runs nothing. The machine needs no such
/// GPU. The verdict is NotJudged when the code compiles. Throws Error when no compiler works on
/// this machine.
tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const std::string& kind,
                               const std::string& architecture, const EvaluationOptions& options);
/// Compiles into the cache what an evaluation of `text` will need: one module for each choice of
/// parameters. With `promotion`, also the first choice for the hidden shapes, because they may need
/// other instances of a template. Any thread. Never throws because of the candidate.
void compile_ahead(DeviceHost& host, const tasks::Task& task, std::string_view text,
                   const std::string& file_name, std::size_t max_variants,
                   const std::function<bool()>& cancelled, bool promotion = true);

/// The kernel to beat: a correct kernel of the same task that a candidate is raced against.
struct Incumbent {
  tasks::KernelFile file;
  tasks::ParameterChoice parameters;
  std::string name; ///< digest of file and parameters; RaceResult::rival has the same
};

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
  /// From now on, timings race the candidate against this kernel as well as the baseline. nullopt:
  /// against the baseline alone.
  void set_incumbent(std::optional<Incumbent> incumbent);
  /// Never throws because of the candidate. An infrastructure fault is retried once, then reported.
  /// `parameters` must be one of parameter_choices().
  tasks::Evaluation evaluate(const tasks::KernelFile& candidate,
                             const tasks::ParameterChoice& parameters);
  /// Parses `text` and calls evaluate(). A parse error gives the verdict `bad_plan`, or `bad_reply`
  /// if the text has no code.
  tasks::Evaluation evaluate_text(std::string_view text, std::string file_name);
  /// Evaluates the allowed variants, at most `max_variants`: the default in full, the others up to
  /// a quick timing, then the fastest in full. The first element of the result is the candidate's
  /// evaluation.
  std::vector<tasks::Evaluation> evaluate_family(const tasks::KernelFile& candidate,
                                                 std::size_t max_variants);
  /// An evaluation that ran no stage: only the verdict and the facts of the device.
  tasks::Evaluation not_begun(tasks::Verdict verdict, std::string detail) const;
  void cancel();
  /// Why the device is quarantined: it answers every evaluation with `infrastructure` from now on.
  /// Empty: not quarantined.
  std::string quarantine() const;

  const tasks::Task& task() const;
  const DeviceReport& device() const;
  process::Isolation isolation() const;

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
