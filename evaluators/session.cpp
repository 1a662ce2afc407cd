#include "evaluators/session.h"

#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// Sparse: only what a stage's outputs need is ever backed by memory.
constexpr std::uint64_t kArenaBytes = std::uint64_t{4} << 30;

tasks::KernelFile parse_own(const std::string& text, const std::filesystem::path& path) {
  tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, path.string());
  if (!parsed.kernel_file) {
    throw UsageError(to_string(parsed.errors.front()), "mend the task's own file");
  }
  return std::move(*parsed.kernel_file);
}

tasks::ParameterChoice default_choice(const tasks::KernelFile& file) {
  const auto choices = tasks::parameter_choices(file.plan, 1);
  return choices.empty() ? tasks::ParameterChoice{} : choices.front();
}

CpuCompilerOptions compiler_options(const EvaluationOptions& options,
                                    const std::filesystem::path& cache) {
  CpuCompilerOptions compiler;
  compiler.cache = cache;
  compiler.timeout = options.compile_timeout;
  compiler.memory_bytes = options.memory_bytes;
  return compiler;
}

bool wants_fast_math(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                     std::vector<tasks::Diagnostic>& errors) {
  const tasks::PlanExpression& fast_math = file.plan.fast_math;
  if (fast_math.expression.empty()) {
    return false;
  }
  tasks::Scope scope;
  for (const auto& [name, value] : choice) {
    scope.set(name, value);
  }
  try {
    return fast_math.expression.evaluate(scope) != 0;
  } catch (const tasks::ExpressionError& error) {
    errors.push_back({file.file, fast_math.at, std::string("fast_math: ") + error.what(),
                      "true, false or a parameter"});
    return false;
  }
}

[[noreturn]] void reject_own(const tasks::KernelFile& file, const std::string& why) {
  throw Error(fmt::format("{}: {}", file.file, why), "mend the task's own file");
}

} // namespace

Session::Session(tasks::Task task_to_judge, EvaluationOptions evaluation_options)
    : task(std::move(task_to_judge)), reference_task(tasks::reference_view(task)),
      options(std::move(evaluation_options)), device(select_device(options.device)),
      sandbox(Sandbox::best(options.require_isolation)), arena(kArenaBytes),
      cache(options.cache.empty() ? cache_directory() : options.cache),
      compiler(make_cpu_compiler(sandbox, compiler_options(options, cache))),
      judge(sandbox, arena, cache, options.run_timeout * 3),
      reference_file(parse_own(task.reference, task.folder / "reference.cu")),
      baseline_file(parse_own(task.baseline, task.folder / "baseline.cu")) {}

BuiltKernel Session::build(const tasks::KernelFile& file, const tasks::Task& view,
                           const tasks::ParameterChoice& choice,
                           const std::vector<tasks::Shape>& shapes, BuildMode mode,
                           std::vector<tasks::Diagnostic>& errors) {
  BuiltKernel built{&file, &view, choice, {}};
  CompileRequest request;
  request.file = file.file;
  request.source = file.source;
  request.parameters = choice;
  request.kernels = tasks::kernel_names(file, view, shapes, choice, device.facts, errors);
  request.mode = mode;
  request.fast_math = wants_fast_math(file, choice, errors);
  if (!errors.empty()) {
    return built;
  }
  built.compiled = compiler->compile(request, [this] { return cancelled.load(); });
  return built;
}

const BuiltKernel& Session::own_kernel(const tasks::KernelFile& file, const tasks::Task& view,
                                       const std::vector<tasks::Shape>& shapes, BuiltKernel& slot) {
  std::vector<tasks::Diagnostic> errors;
  slot = build(file, view, default_choice(file), shapes, BuildMode::Plain, errors);
  if (!errors.empty()) {
    reject_own(file, to_string(errors.front()));
  }
  if (slot.compiled.verdict != tasks::Verdict::Correct && !cancelled) {
    reject_own(file, slot.compiled.detail);
  }
  return slot;
}

tasks::ResolvedPlan Session::own_plan(const BuiltKernel& kernel, const tasks::Shape& shape) const {
  std::vector<tasks::Diagnostic> errors, warnings;
  auto plan = tasks::resolve_plan(*kernel.file, *kernel.task, shape, kernel.choice, device.facts,
                                  kernel.compiled.facts, errors, warnings);
  if (!plan) {
    reject_own(*kernel.file, to_string(errors.front()));
  }
  return std::move(*plan);
}

} // namespace winnow::evaluators
