#include "evaluators/evaluation/compile_only.h"

#include "base/files.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/host/built_kernel.h"
#include "evaluators/host/device_host.h"
#include "tasks/plan/kernel_file.h"

namespace winnow::evaluators {
namespace {

/// The plan must fit the device at each shown shape.
void check_launches(const BuiltKernel& built, const tasks::DeviceFacts& facts,
                    tasks::Evaluation& result) {
  for (const tasks::Shape& shape : shown_shapes(*built.task, result.device)) {
    if (const PlanAtShape& at = plan_at(built, facts, shape); !at.plan) {
      result.verdict = tasks::Verdict::BadPlan;
      result.detail = to_string(at.errors.front());
      return;
    }
  }
}

} // namespace

tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const CompileTarget& target,
                               const MachineOptions& machine) {
  const DeviceReport& device = target.device;
  const process::Sandbox sandbox = process::Sandbox::best(machine.require_isolation);
  const auto compiler = make_compiler(device, sandbox, machine,
                                      machine.cache.empty() ? cache_directory() : machine.cache);
  tasks::Evaluation result = blank_evaluation(device.kind, device.name, to_string(sandbox.level()));
  std::vector<Diagnostic> errors;
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, file_name);
  if (!parsed.kernel_file) {
    result.verdict = tasks::Verdict::BadPlan;
    result.detail = to_string(parsed.errors.front());
    return result;
  }
  result.stage = tasks::Stage::Compile;
  result.parameters = default_choice(*parsed.kernel_file);
  const BuiltKernel built =
      build_kernel(*compiler, device.facts, *parsed.kernel_file, task, result.parameters,
                   shown_shapes(task, device.kind), BuildMode::Plain, {}, errors);
  result.build = built.compiled.build;
  result.verdict = errors.empty() ? built.compiled.verdict : tasks::Verdict::BadPlan;
  result.detail = errors.empty() ? built.compiled.detail : to_string(errors.front());
  if (result.verdict == tasks::Verdict::Correct) {
    result.verdict = tasks::Verdict::NotJudged; // the code compiles, but nothing has run
    if (target.checks_launches) {
      check_launches(built, device.facts, result);
    }
    if (target.take_module) {
      target.take_module(built.compiled.module);
    }
  }
  return result;
}

} // namespace winnow::evaluators
