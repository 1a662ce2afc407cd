#include "evaluators/evaluation/compile_ahead.h"

#include "base/error.h"
#include "evaluators/host/device_host.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

namespace winnow::evaluators {

void compile_ahead(DeviceHost& host, const EvaluationRequest& request,
                   const std::function<bool()>& cancelled) {
  const tasks::Task& task = *request.task;
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(request.text, request.file_name);
  if (!parsed.kernel_file) {
    return;
  }
  const tasks::KernelFile& file = *parsed.kernel_file;
  const auto build = [&](const tasks::ParameterChoice& choice,
                         const std::vector<tasks::Shape>& shapes) {
    std::vector<Diagnostic> ignored; // the evaluation will report the same errors
    return build_kernel(*host.compiler, host.device.facts, file, task, choice, shapes,
                        BuildMode::Plain, cancelled, ignored);
  };
  const bool hidden = request.protocol.promotion && request.depth == Depth::Full;
  const std::vector<tasks::Shape> shown = shown_shapes(task, host.device.kind);
  const std::vector<tasks::Shape> promotion =
      task.shapes_of(tasks::ShapeSet::Promotion, host.device.kind);
  try {
    for (const tasks::ParameterChoice& choice :
         request.choices.empty() ? tasks::parameter_choices(file.plan, 1) : request.choices) {
      const BuiltKernel built = build(choice, shown);
      if (hidden && built.compiled.verdict == tasks::Verdict::Correct &&
          !serves(built, host.device.facts, promotion)) {
        build(choice, promotion);
      }
    }
  } catch (const Error&) { // the evaluation will report this error, too
  } catch (const tasks::ExpressionError&) {
  }
}

} // namespace winnow::evaluators
