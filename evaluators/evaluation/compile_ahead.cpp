#include "evaluators/evaluation/compile_ahead.h"

#include "base/parallel.h"
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
  const bool hidden = request.protocol.promotion && request.depth == Depth::Full;
  const std::vector<tasks::Shape> shown = shown_shapes(task, host.device.kind);
  const std::vector<tasks::Shape> promotion =
      task.shapes_of(tasks::ShapeSet::Promotion, host.device.kind);
  const auto build = [&](const tasks::ParameterChoice& choice) {
    std::vector<Diagnostic> ignored; // the evaluation will report the same errors
    const auto build_for = [&](const std::vector<tasks::Shape>& shapes) {
      return build_kernel(*host.compiler, host.device.facts, file, task, choice, shapes,
                          BuildMode::Plain, cancelled, ignored);
    };
    try {
      const BuiltKernel built = build_for(shown);
      if (hidden && built.compiled.verdict == tasks::Verdict::Correct &&
          !serves(built, host.device.facts, promotion)) {
        build_for(promotion);
      }
    } catch (const std::exception&) { // the evaluation will report this error, too
    }
  };
  try {
    const std::vector<tasks::ParameterChoice> choices =
        request.choices.empty() ? tasks::parameter_choices(file.plan, 1) : request.choices;
    in_parts(choices.size(), 1, [&](std::uint64_t first, std::uint64_t end) {
      for (; first < end; ++first) {
        build(choices[first]);
      }
    });
  } catch (const tasks::ExpressionError&) { // the evaluation will report this error, too
  }
}

} // namespace winnow::evaluators
