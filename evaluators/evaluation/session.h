#pragma once

#include "evaluators/device/device_host.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/judge/judge.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// What all evaluations of one task on one device share: the device, the judge, and the task's own
/// kernels.
struct Session {
  Session(tasks::Task task_to_judge, std::shared_ptr<DeviceHost> device_host,
          EvaluationOptions evaluation_options);

  /// With the facts of the device, a seed, and why no board may rank it.
  tasks::Evaluation new_evaluation() const;
  /// Starts the judge and compiles the task's own kernels, so that the first evaluation finds both.
  void prepare();
  /// Compiles `file` for what `shapes` need. Mistakes in kernel names go to `errors`.
  BuiltKernel build(const tasks::KernelFile& file, const tasks::Task& view,
                    const tasks::ParameterChoice& choice, const std::vector<tasks::Shape>& shapes,
                    BuildMode mode, std::vector<tasks::Diagnostic>& errors);
  /// The baseline or the reference, which must compile. Throws Error naming the task's file.
  const BuiltKernel& own_kernel(const tasks::KernelFile& file, const tasks::Task& view,
                                const std::vector<tasks::Shape>& shapes, BuiltKernel& slot);
  /// Says what is waited for next; see EvaluationOptions::waiting.
  void tell(const std::string& file, std::string what, std::chrono::milliseconds limit) const;
  /// The judge's answer, its time counted.
  JudgeReply ask(const JudgeRequest& request);
  tasks::ResolvedPlan own_plan(const BuiltKernel& kernel, const tasks::Shape& shape) const;
  /// The incumbent, built for these shapes; nullptr when there is none, or it does not build.
  const BuiltKernel* incumbent_for(const std::vector<tasks::Shape>& shapes);

  tasks::Task task;
  tasks::Task reference_task;
  std::string memorisable; ///< tasks::why_timings_can_be_memorised() on this device
  EvaluationOptions options;
  std::shared_ptr<DeviceHost> host;
  Judge judge;
  tasks::KernelFile reference_file;
  tasks::KernelFile baseline_file;
  BuiltKernel reference;
  BuiltKernel baseline;
  std::optional<Incumbent> incumbent;
  BuiltKernel incumbent_kernel; ///< of `incumbent`, for the shapes it was last asked for
  /// Evaluations in full by everything that ran in them: machine code and launches. GPU code only.
  std::map<std::string, tasks::Evaluation> known;
  /// Times of the task's library baselines, by shape.
  std::map<std::string, std::vector<tasks::LibraryTiming>> libraries;
  std::atomic<bool> cancelled{false};
};

} // namespace winnow::evaluators
