#include "tasks/plan/resolve/plan_resolve.h"

#include "base/text.h"
#include "tasks/plan/resolve/plan_access.h"
#include "tasks/plan/resolve/plan_arguments.h"
#include "tasks/plan/resolve/plan_buffers.h"
#include "tasks/plan/resolve/plan_context.h"
#include "tasks/plan/resolve/plan_launch.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

bool has_kernels(const std::vector<Launch>& launches) {
  return std::any_of(launches.begin(), launches.end(), [](const Launch& launch) {
    const auto* repeat = std::get_if<Repeat>(&launch.what);
    return std::holds_alternative<KernelLaunch>(launch.what) ||
           (repeat != nullptr && has_kernels(repeat->body));
  });
}

// Before compiling, device constants are unknown. Then the resolver skips each step that needs one.
// For a launch whose `when` or count is unknown, the resolver only records the kernel's name.
class PlanResolver {
public:
  PlanResolver(const PlanContext& context, std::vector<Diagnostic>& errors,
               std::vector<Diagnostic>& warnings)
      : context_(context), errors_(errors), warnings_(warnings),
        tensor_maps_(context, scope_, plan_.buffers), access_(context) {}

  std::optional<ResolvedPlan> resolve() {
    const std::size_t errors_before = errors_.size();
    try {
      set_up();
    } catch (const PlanMistake& mistake) {
      errors_.push_back(mistake.diagnostic());
      return std::nullopt;
    }
    resolve_list(context_.file().plan.prepare, Phase::Prepare, errors_before);
    resolve_list(context_.file().plan.launches, Phase::Run, errors_before);
    if (errors_.size() == errors_before && !incomplete_) {
      check_whole();
    }
    return errors_.size() == errors_before ? std::optional(std::move(plan_)) : std::nullopt;
  }

  /// The names of all launched kernels, in order of first use.
  const std::vector<std::string>& kernels() const { return kernels_; }

private:
  void set_up() {
    bind_facts(context_.facts(), scope_);
    bind_shape(context_.task(), context_.shape(), scope_);
    add_tensors();
    std::vector<Buffer> all = plan_.buffers;
    for (const ScratchBuffer& scratch : context_.file().plan.scratch) {
      Buffer buffer;
      buffer.name = scratch.name;
      buffer.dtype = scratch.dtype;
      all.push_back(buffer);
    }
    check_names(context_, scope_, all);
    for (const Buffer& buffer : all) {
      scope_.set("sizeof(" + buffer.name + ")",
                 static_cast<std::int64_t>(size_bytes(buffer.dtype)));
    }
    for (const Parameter& parameter : context_.file().plan.parameters) {
      const auto chosen = context_.choice().find(parameter.name);
      if (chosen == context_.choice().end()) {
        context_.fail(parameter.at,
                      fmt::format("no value was chosen for parameter '{}'", parameter.name),
                      "a value for every parameter");
      }
      scope_.set(parameter.name, chosen->second);
    }
    context_.bind(context_.file().plan.let, scope_);
    add_scratch(context_, scope_, plan_.buffers);
  }

  void add_tensors() {
    try {
      plan_.buffers = tensors_only(context_.task(), context_.shape()).buffers;
    } catch (const ExpressionError& error) {
      context_.fail({}, context_.hidden() ? error.reason() : std::string(error.what()),
                    error.expected());
    }
  }

  // Resolves each launch separately, so that one call reports several mistakes.
  void resolve_list(const std::vector<Launch>& launches, Phase phase, std::size_t errors_before) {
    phase_ = phase;
    for (const Launch& launch : launches) {
      if (over_limit_ || errors_.size() - errors_before >= kMaxPlanErrors) {
        return;
      }
      try {
        resolve_launch(launch, scope_, true);
      } catch (const PlanMistake& mistake) {
        errors_.push_back(mistake.diagnostic());
      }
    }
  }

  /// `certain`: no unknown device constant decides whether the launch runs.
  void resolve_launch(const Launch& launch, const Scope& scope, bool certain) {
    count_work(launch);
    try {
      if (!launch.when.expression.empty() && context_.integer(launch.when, scope, "when") == 0) {
        return;
      }
    } catch (const UnknownValue&) {
      certain = false;
    }
    if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
      unroll(*repeat, scope, certain);
      return;
    }
    const auto* kernel = std::get_if<KernelLaunch>(&launch.what);
    const std::string name = kernel == nullptr ? "" : kernel_name(*kernel, launch.at, scope);
    incomplete_ = incomplete_ || !certain;
    if (!certain) {
      return;
    }
    try {
      add_step(launch, name, scope);
    } catch (const UnknownValue&) {
      incomplete_ = true;
    }
  }

  void add_step(const Launch& launch, const std::string& name, const Scope& scope) {
    if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
      add_kernel(*kernel, name, launch.at, scope);
    } else if (const auto* fill = std::get_if<Fill>(&launch.what)) {
      if (auto step = resolve_fill(context_, *fill, scope, plan_.buffers)) {
        access_.write(phase_, *find_named(plan_.buffers, step->buffer), fill->buffer.at);
        steps().emplace_back(std::move(*step));
      }
    } else if (const auto* copy = std::get_if<Copy>(&launch.what)) {
      if (auto step = resolve_copy(context_, *copy, scope, plan_.buffers)) {
        access_.read(phase_, *find_named(plan_.buffers, step->from), copy->from.at);
        access_.write(phase_, *find_named(plan_.buffers, step->to), copy->to.at);
        steps().emplace_back(std::move(*step));
      }
    }
  }

  std::vector<Step>& steps() { return phase_ == Phase::Prepare ? plan_.prepare : plan_.steps; }

  // The work limit also stops loops with empty bodies.
  void count_work(const Launch& launch) {
    constexpr std::int64_t kWorkPerStep = 8;
    const std::int64_t limit = context_.facts().max_steps;
    const auto made = static_cast<std::int64_t>(plan_.prepare.size() + plan_.steps.size());
    if (made >= limit || ++work_ > limit * kWorkPerStep) {
      over_limit_ = true;
      context_.fail(launch.at,
                    fmt::format("the plan unrolls to more than {} launches for {}", limit,
                                context_.shape_text()),
                    fmt::format("at most {}: put a loop over the batch into the grid", limit));
    }
  }

  void unroll(const Repeat& repeat, const Scope& scope, bool certain) {
    std::int64_t times = 0;
    try {
      times = context_.integer_in(repeat.times, scope, "repeat", 0, context_.facts().max_steps,
                                  fmt::format("0 to {} iterations", context_.facts().max_steps));
    } catch (const UnknownValue&) {
      iterate(repeat, scope, Unknown(), false);
      return;
    }
    for (std::int64_t i = 0; i < times; ++i) {
      iterate(repeat, scope, i, certain);
    }
  }

  void iterate(const Repeat& repeat, const Scope& scope, Value index, bool certain) {
    Scope inner(&scope);
    if (!repeat.as.empty()) {
      inner.set(repeat.as, index);
    }
    context_.bind(repeat.let, inner);
    for (const Launch& launch : repeat.body) {
      resolve_launch(launch, inner, certain);
    }
  }

  std::string kernel_name(const KernelLaunch& launch, SourcePosition at, const Scope& scope) {
    std::string name = instantiated_name(context_, launch, at, scope, plan_.buffers);
    if (kernels_seen_.insert(name).second) {
      kernels_.push_back(name);
    }
    return name;
  }

  void add_kernel(const KernelLaunch& launch, const std::string& name, SourcePosition at,
                  const Scope& scope) {
    const KernelSignature* signature = find_signature(name, launch, at);
    LaunchStep step = resolve_dimensions(context_, launch, at, scope, signature);
    step.kernel = name;
    ResolvedArguments resolved =
        resolve_arguments(context_, launch, at, scope, plan_.buffers, tensor_maps_, signature);
    step.arguments = std::move(resolved.arguments);
    access_.add(phase_, step, resolved.written, signature, plan_.buffers, at);
    for (Diagnostic& warning : resolved.warnings) {
      warn_once(std::move(warning));
    }
    kernel_launches_ += phase_ == Phase::Run ? 1 : 0;
    steps().emplace_back(std::move(step));
  }

  void warn_once(Diagnostic warning) {
    if (warned_.insert(to_string(warning)).second) {
      warnings_.push_back(std::move(warning));
    }
  }

  // Null before the file is compiled.
  const KernelSignature* find_signature(const std::string& kernel, const KernelLaunch& launch,
                                        SourcePosition at) const {
    if (context_.compiled() == nullptr) {
      return nullptr;
    }
    for (const KernelSignature& signature : context_.compiled()->signatures) {
      if (signature.kernel == kernel) {
        return &signature;
      }
    }
    context_.fail(at, fmt::format("kernel '{}' was not compiled", launch.kernel),
                  "a __global__ function of that name");
  }

  // Checks the rules that concern the whole plan.
  void check_whole() {
    const Plan& plan = context_.file().plan;
    try {
      if (plan_.steps.empty() || (kernel_launches_ == 0 && has_kernels(plan.launches))) {
        context_.fail(plan.launches.front().at,
                      fmt::format("no launch applies to {}: every `when` is false",
                                  context_.hidden() ? context_.shape_text()
                                                    : fmt::format("{} ({})", context_.shape_text(),
                                                                  to_string(context_.shape()))),
                      "a launch without `when`, or conditions that cover all shapes");
      }
      access_.check_whole(plan_.buffers);
    } catch (const PlanMistake& mistake) {
      errors_.push_back(mistake.diagnostic());
    }
  }

  const PlanContext& context_;
  std::vector<Diagnostic>& errors_;
  std::vector<Diagnostic>& warnings_;
  Scope scope_;
  ResolvedPlan plan_;
  TensorMaps tensor_maps_;
  BufferAccess access_;
  Phase phase_ = Phase::Prepare;
  std::vector<std::string> kernels_;
  std::set<std::string> kernels_seen_;
  std::int64_t work_ = 0;
  std::int64_t kernel_launches_ = 0; ///< number of kernel steps in `launches`
  bool over_limit_ = false;
  bool incomplete_ = false; ///< a step depends on an unknown device constant
  std::set<std::string> warned_;
};

} // namespace

ResolvedPlan tensors_only(const Task& task, const Shape& shape) {
  ResolvedPlan plan;
  for (const TensorSpec& tensor : task.tensors) {
    Buffer buffer;
    buffer.name = tensor.name;
    buffer.kind = static_cast<Buffer::Kind>(tensor.role);
    buffer.dtype = tensor.dtype;
    buffer.generator = generator_at(tensor, shape);
    buffer.is_static = tensor.is_static;
    buffer.count = element_count(tensor, shape);
    plan.buffers.push_back(std::move(buffer));
  }
  return plan;
}

std::vector<std::string> kernel_names(const KernelFile& file, const Task& task,
                                      const std::vector<Shape>& shapes,
                                      const ParameterChoice& choice, const DeviceFacts& facts,
                                      std::vector<Diagnostic>& errors) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  std::vector<Diagnostic> warnings; // resolve_plan() reports them again
  for (const Shape& shape : shapes) {
    const PlanContext context(file, task, shape, choice, facts, nullptr);
    PlanResolver resolver(context, errors, warnings);
    if (!resolver.resolve()) {
      break; // other shapes would mostly repeat these mistakes
    }
    for (const std::string& name : resolver.kernels()) {
      if (seen.insert(name).second) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::optional<ResolvedPlan> resolve_plan(const KernelFile& file, const Task& task,
                                         const Shape& shape, const ParameterChoice& choice,
                                         const DeviceFacts& facts, const CompiledFacts& compiled,
                                         std::vector<Diagnostic>& errors,
                                         std::vector<Diagnostic>& warnings) {
  const PlanContext context(file, task, shape, choice, facts, &compiled);
  return PlanResolver(context, errors, warnings).resolve();
}

} // namespace winnow::tasks
