#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/task_on_device.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Judges candidates of one task on one device. The stages are: parse, compile, tiny shapes, check
/// mode, search shapes, timing beside the task's baseline, hidden promotion shapes. Compilers,
/// candidates and the reference run in child processes. The reference has a process of its own,
/// which serves many evaluations and does not pass its outputs on. One evaluation at a time;
/// cancel() from any thread.
class Evaluator {
public:
  Evaluator(tasks::Task task, std::shared_ptr<DeviceHost> host, EvaluationOptions options)
      : on_device_(std::move(task), std::move(host), std::move(options)) {}

  /// Compiles the task's own kernels into the cache before the first evaluation. Throws Error when
  /// they do not compile.
  void prepare() { on_device_.prepare(); }
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
  void cancel() { on_device_.cancelled = true; }
  const tasks::Task& task() const { return on_device_.task; }

private:
  tasks::Evaluation attempt(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                            Depth depth);
  tasks::Evaluation blank(tasks::Verdict verdict, std::string detail) const;
  /// Evaluates the default choice of parameters, or reports the mistakes of the text.
  tasks::Evaluation evaluate_default(const tasks::KernelFileResult& parsed, Depth depth);
  std::vector<tasks::Evaluation> trial(const tasks::KernelFile& file,
                                       const EvaluationRequest& request);
  /// nullopt: the precheck, if there is one, lets the text pass.
  std::optional<tasks::Evaluation> stopped_by_precheck(const std::string& text,
                                                       const std::string& file_name) const;

  TaskOnDevice on_device_;
};

} // namespace winnow::evaluators
