#pragma once

#include "base/recent.h"
#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/host/device_host.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/timing/incumbent_speed.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// KernelToBeat, parsed.
struct Incumbent {
  tasks::KernelFile file;
  tasks::ParameterChoice parameters;
  std::string name; ///< digest_of(KernelToBeat)
  EarnedSpeed earned;
};

/// What all evaluations of one task on one device share: the device and the task's own kernels
/// (baseline and reference).
struct TaskOnDevice {
  static constexpr std::size_t kMostKnown = 64;

  TaskOnDevice(tasks::Task task_to_judge, std::shared_ptr<DeviceHost> device_host,
               EvaluationOptions evaluation_options);

  /// An evaluation with the facts of the device, a seed, and, if there is one, the reason why no
  /// board may rank it.
  tasks::Evaluation new_evaluation() const;
  /// Starts the judge and compiles the task's own kernels ahead of the first evaluation.
  void prepare();
  /// Compiles `file` with the kernels that `shapes` need. Mistakes in kernel names go to `errors`.
  BuiltKernel build(const tasks::KernelFile& file, const tasks::Task& view,
                    const tasks::ParameterChoice& choice, const std::vector<tasks::Shape>& shapes,
                    BuildMode mode, std::vector<Diagnostic>& errors);
  /// Compiles reference.cu for these shapes, or starts PyTorch. Throws Error.
  void prepare_reference(const std::vector<tasks::Shape>& shapes);
  bool has_baseline() const { return !task.baseline.empty(); }
  /// The kernels that a candidate is timed beside at these shapes, built for them: the baseline if
  /// the task has one, then the incumbent if `with_incumbent` and there is one. Throws Error.
  std::vector<const BuiltKernel*> rivals_for(const std::vector<tasks::Shape>& shapes,
                                             bool with_incumbent);
  /// The baseline or the reference. Throws Error, with the name of the task's file, when it does
  /// not compile.
  const BuiltKernel& own_kernel(const tasks::KernelFile& file, const tasks::Task& view,
                                const std::vector<tasks::Shape>& shapes, BuiltKernel& slot);
  /// Announces the next wait; see MachineOptions::waiting.
  void tell(const std::string& file, std::string what, std::chrono::milliseconds limit) const;
  /// Asks the device's judge and adds the time to HostStatistics.
  JudgeReply ask(const JudgeRequest& request);
  std::vector<JudgeReply> ask(const std::vector<JudgeRequest>& requests);
  /// The two halves of ask(), for questions that the judge gets while a worker runs.
  void give(ReferenceJudge::Round& round, const std::vector<JudgeRequest>& requests);
  std::vector<JudgeReply> take(ReferenceJudge::Round& round);
  ReferenceJudge::Round new_round();
  /// Why PyTorch has no answer; empty: the answer is in the exchange.
  std::string answer_by_torch(const JudgeRequest& request);
  /// Puts inputs of this seed that the module computes into the arena. The result says why they are
  /// not there; empty: they are.
  std::string give_inputs(const std::string& shape_id, std::uint64_t seed,
                          std::uint64_t static_seed, const std::vector<ArenaSlice>& to);
  /// See plan_at(). Throws Error, with the name of the task's file, when the plan does not hold.
  const SharedPlan& own_plan(const BuiltKernel& kernel, const tasks::Shape& shape) const;
  /// The evaluation of this request goes on without the incumbent.
  void suspend_incumbent(std::string why);
  /// The incumbent, built for these shapes. nullptr when there is no incumbent. One that does not
  /// build is suspended.
  const BuiltKernel* incumbent_for(const std::vector<tasks::Shape>& shapes);

  tasks::Task task; ///< with the baseline of this kind of device
  tasks::Task reference_task;
  std::string memorisable; ///< result of tasks::why_timings_can_be_memorised() on this device
  EvaluationOptions options;
  std::shared_ptr<DeviceHost> host;
  tasks::KernelFile reference_file; ///< empty for a task with a TorchReference
  tasks::KernelFile baseline_file;  ///< empty for a task without a baseline
  BuiltKernel reference;
  BuiltKernel baseline;
  std::optional<Incumbent> incumbent;
  std::optional<tasks::Suspension> suspended; ///< of the incumbent of this request
  BuiltKernel incumbent_kernel; ///< `incumbent`, built for the shapes of the last request
  /// Full evaluations, by a key of machine code and launches (EvaluationRun::fingerprint()). GPU
  /// code only. Each holds all its samples, so only the last ones are kept.
  Recent<std::string, tasks::Evaluation> known{kMostKnown};
  /// Of a task without baseline.cu: see eager_times(). By shape.
  std::map<std::string, std::vector<double>> eager;
  /// Timings of the task's library baselines, by shape.
  std::map<std::string, std::vector<tasks::LibraryTiming>> libraries;
  std::atomic<bool> cancelled{false};
};

/// How long the judge, or PyTorch, may take for one answer.
std::chrono::milliseconds judge_timeout(const EvaluationOptions& options);

} // namespace winnow::evaluators
