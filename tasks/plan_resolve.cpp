#include "tasks/plan_resolve.h"

#include "base/text.h"
#include "tasks/plan_arguments.h"
#include "tasks/plan_buffers.h"
#include "tasks/plan_context.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::string_view kAxisNames = "xyz";
constexpr std::size_t kMaxErrors = 20;

Buffer::Kind buffer_kind(Role role) {
  switch (role) {
  case Role::Input:
    return Buffer::Kind::Input;
  case Role::Output:
    return Buffer::Kind::Output;
  case Role::InOut:
    return Buffer::Kind::InOut;
  }
  return Buffer::Kind::Input;
}

class PlanResolver {
public:
  /// Without signatures (nothing compiled yet) arguments are not matched with parameters.
  PlanResolver(const PlanContext& context, const ParameterChoice& choice,
               const std::vector<KernelSignature>* signatures, std::vector<Diagnostic>& errors,
               std::vector<Diagnostic>& warnings)
      : context_(context), choice_(choice), signatures_(signatures), errors_(errors),
        warnings_(warnings) {}

  std::optional<ResolvedPlan> resolve() {
    const std::size_t errors_before = errors_.size();
    try {
      set_up();
    } catch (const PlanMistake& mistake) {
      errors_.push_back(mistake.diagnostic());
      return std::nullopt;
    }
    for (const Launch& launch : context_.file().plan.launches) {
      try {
        resolve_launch(launch, scope_);
      } catch (const PlanMistake& mistake) {
        errors_.push_back(mistake.diagnostic());
      }
      if (over_limit_ || errors_.size() - errors_before >= kMaxErrors) {
        break;
      }
    }
    if (errors_.size() == errors_before) {
      check_whole();
    }
    return errors_.size() == errors_before ? std::optional(std::move(plan_)) : std::nullopt;
  }

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
      const auto chosen = choice_.find(parameter.name);
      if (chosen == choice_.end()) {
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
    for (const TensorSpec& tensor : context_.task().tensors) {
      Buffer buffer;
      buffer.name = tensor.name;
      buffer.kind = buffer_kind(tensor.role);
      buffer.dtype = tensor.dtype;
      buffer.generator = tensor.generator;
      try {
        buffer.count = element_count(tensor, context_.shape());
      } catch (const ExpressionError& error) {
        context_.fail({}, context_.hidden() ? error.reason() : std::string(error.what()),
                      error.expected());
      }
      plan_.buffers.push_back(std::move(buffer));
    }
  }

  void resolve_launch(const Launch& launch, const Scope& scope) {
    count_work(launch);
    if (!launch.when.expression.empty() && context_.integer(launch.when, scope, "when") == 0) {
      return;
    }
    if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
      add_kernel(*kernel, launch.at, scope);
    } else if (const auto* fill = std::get_if<Fill>(&launch.what)) {
      if (auto step = resolve_fill(context_, *fill, scope, plan_.buffers)) {
        written_.insert(step->buffer);
        plan_.steps.emplace_back(std::move(*step));
      }
    } else if (const auto* copy = std::get_if<Copy>(&launch.what)) {
      if (auto step = resolve_copy(context_, *copy, scope, plan_.buffers)) {
        written_.insert(step->to);
        plan_.steps.emplace_back(std::move(*step));
      }
    } else {
      unroll(std::get<Repeat>(launch.what), scope);
    }
  }

  // Also bounds loops whose bodies do nothing.
  void count_work(const Launch& launch) {
    constexpr std::int64_t kWorkPerStep = 8;
    const std::int64_t limit = context_.facts().max_steps;
    if (static_cast<std::int64_t>(plan_.steps.size()) >= limit || ++work_ > limit * kWorkPerStep) {
      over_limit_ = true;
      context_.fail(launch.at,
                    fmt::format("the plan unrolls to more than {} launches for {}", limit,
                                context_.shape_text()),
                    fmt::format("at most {}: put a loop over the batch into the grid", limit));
    }
  }

  void unroll(const Repeat& repeat, const Scope& scope) {
    const std::int64_t times =
        context_.integer_in(repeat.times, scope, "repeat", 0, context_.facts().max_steps,
                            fmt::format("0 to {} iterations", context_.facts().max_steps));
    for (std::int64_t i = 0; i < times; ++i) {
      Scope inner(&scope);
      if (!repeat.as.empty()) {
        inner.set(repeat.as, i);
      }
      context_.bind(repeat.let, inner);
      for (const Launch& launch : repeat.body) {
        resolve_launch(launch, inner);
      }
    }
  }

  void add_kernel(const KernelLaunch& launch, SourcePosition at, const Scope& scope) {
    LaunchStep step;
    step.kernel = instantiate(launch, at, scope);
    set_grid(launch, scope, step);
    set_block(launch, scope, step);
    check_threads(launch, at, step);
    step.cooperative = launch.cooperative;
    if (!launch.shared_bytes.expression.empty()) {
      const std::int64_t limit = context_.facts().max_shared_bytes;
      step.shared_bytes =
          context_.integer_in(launch.shared_bytes, scope, "shared_bytes", 0, limit,
                              fmt::format("0 to {} bytes of shared memory in a block", limit));
    }
    ResolvedArguments resolved = resolve_arguments(context_, launch, at, scope, plan_.buffers,
                                                   find_signature(step.kernel, launch, at));
    step.arguments = std::move(resolved.arguments);
    bound_.insert(resolved.written.begin(), resolved.written.end());
    written_.insert(resolved.written.begin(), resolved.written.end());
    for (const ResolvedArgument& argument : step.arguments) {
      bound_.insert(argument.buffer);
    }
    for (Diagnostic& warning : resolved.warnings) {
      warn_once(std::move(warning));
    }
    ++kernel_launches_;
    plan_.steps.emplace_back(std::move(step));
  }

  void warn_once(Diagnostic warning) {
    if (warned_.insert(to_string(warning)).second) {
      warnings_.push_back(std::move(warning));
    }
  }

  const KernelSignature* find_signature(const std::string& kernel, const KernelLaunch& launch,
                                        SourcePosition at) const {
    if (signatures_ == nullptr) {
      return nullptr;
    }
    for (const KernelSignature& signature : *signatures_) {
      if (signature.kernel == kernel) {
        return &signature;
      }
    }
    context_.fail(at, fmt::format("kernel '{}' was not compiled", launch.kernel),
                  "a __global__ function of that name");
  }

  // Replaces {NAME} and {dtype:tensor}; braces around anything but a name are C++ and stay.
  std::string instantiate(const KernelLaunch& launch, SourcePosition at, const Scope& scope) const {
    std::string name;
    std::string_view rest = launch.kernel;
    while (!rest.empty()) {
      const std::size_t open = rest.find('{');
      name += rest.substr(0, open);
      rest.remove_prefix(std::min(open, rest.size()));
      const std::size_t close = rest.find('}');
      if (rest.empty() || close == std::string_view::npos) {
        break;
      }
      const std::string_view inside = trim(rest.substr(1, close - 1));
      if (inside.starts_with("dtype:")) {
        name += dtype_name(trim(inside.substr(6)), at);
      } else if (is_identifier(inside)) {
        name += value_text(inside, at, scope);
      } else {
        name += rest.substr(0, close + 1);
      }
      rest.remove_prefix(close + 1);
    }
    return name + std::string(rest);
  }

  std::string_view dtype_name(std::string_view tensor, SourcePosition at) const {
    if (const Buffer* buffer = find_buffer(plan_.buffers, tensor)) {
      return device_type_name(buffer->dtype);
    }
    std::vector<std::string> known;
    for (const Buffer& buffer : plan_.buffers) {
      known.push_back(buffer.name);
    }
    context_.fail(at,
                  fmt::format("unknown buffer '{}' in the kernel's name{}", tensor,
                              suggestion(tensor, known)),
                  "{dtype:x} with x a tensor or scratch buffer");
  }

  std::string value_text(std::string_view name, SourcePosition at, const Scope& scope) const {
    const Value* value = scope.find(name);
    if (value == nullptr) {
      context_.fail(at,
                    fmt::format("unknown name '{}' in the kernel's name{}", name,
                                suggestion(name, scope.names())),
                    "{NAME} with NAME a parameter, axis, integer scalar or let binding");
    }
    const auto* integer = std::get_if<std::int64_t>(value);
    if (integer == nullptr) {
      context_.fail(at, fmt::format("'{}' in the kernel's name is a float", name), "an integer");
    }
    return std::to_string(*integer);
  }

  void set_grid(const KernelLaunch& launch, const Scope& scope, LaunchStep& step) const {
    const DeviceFacts& facts = context_.facts();
    const std::array limits{facts.max_grid_x, facts.max_grid_y, facts.max_grid_z};
    for (std::size_t i = 0; i < launch.grid.size(); ++i) {
      const std::int64_t value =
          context_.integer(launch.grid[i], scope, fmt::format("grid[{}]", i));
      if (value < 1 || value > limits[i]) {
        context_.fail(launch.grid[i].at,
                      context_.statement(launch.grid[i], scope, fmt::format("grid[{}]", i),
                                         std::to_string(value)),
                      value < 1 ? "at least 1"
                                : fmt::format("at most {} blocks in {}", limits[i], kAxisNames[i]));
      }
      step.grid[i] = value;
    }
  }

  void set_block(const KernelLaunch& launch, const Scope& scope, LaunchStep& step) const {
    const DeviceFacts& facts = context_.facts();
    const std::array limits{facts.max_threads_per_block, facts.max_threads_per_block,
                            std::min(facts.max_block_z, facts.max_threads_per_block)};
    for (std::size_t i = 0; i < launch.block.size(); ++i) {
      const std::string what = fmt::format("block[{}]", i);
      const std::int64_t value = context_.integer(launch.block[i], scope, what);
      if (value < 1 || value > limits[i]) {
        context_.fail(launch.block[i].at,
                      context_.statement(launch.block[i], scope, what, std::to_string(value)),
                      value < 1 ? "at least 1" : too_many_threads(launch.block[i], limits[i]));
      }
      step.block[i] = value;
    }
  }

  // A block as wide as an axis works only while the axis is small: the most frequent mistake here.
  std::string too_many_threads(const PlanExpression& block, std::int64_t limit) const {
    const std::vector<std::string> names = block.expression.names();
    const bool of_axis = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return context_.shape().axes.count(name) != 0;
    });
    const std::string most = fmt::format("at most {} threads", limit);
    return of_axis ? fmt::format("{}: clamp with min({}, {}) and let each thread stride", most,
                                 truncate_text(block.expression.text(), 60), limit)
                   : most;
  }

  void check_threads(const KernelLaunch& launch, SourcePosition at, const LaunchStep& step) const {
    const DeviceFacts& facts = context_.facts();
    const std::int64_t block_threads = step.block[0] * step.block[1] * step.block[2];
    if (block_threads > facts.max_threads_per_block) {
      const std::string numbers = context_.hidden()
                                      ? ""
                                      : fmt::format(" = {} x {} x {} = {}", step.block[0],
                                                    step.block[1], step.block[2], block_threads);
      context_.fail(launch.block[0].at,
                    fmt::format("block{} is too large for {}", numbers, context_.shape_text()),
                    fmt::format("at most {} threads in a block", facts.max_threads_per_block));
    }
    std::int64_t total = block_threads;
    const bool overflow = __builtin_mul_overflow(total, step.grid[0], &total) ||
                          __builtin_mul_overflow(total, step.grid[1], &total) ||
                          __builtin_mul_overflow(total, step.grid[2], &total);
    if (overflow || total > facts.max_threads_per_launch) {
      const std::string numbers =
          context_.hidden() ? ""
                            : fmt::format(" of {} x {} x {} blocks of {} threads", step.grid[0],
                                          step.grid[1], step.grid[2], block_threads);
      context_.fail(launch.grid.empty() ? at : launch.grid[0].at,
                    fmt::format("the launch of '{}'{} is too large for {}", launch.kernel, numbers,
                                context_.shape_text()),
                    fmt::format("at most {} threads in a launch on this device",
                                facts.max_threads_per_launch));
    }
  }

  // What only the whole plan shows.
  void check_whole() {
    const Plan& plan = context_.file().plan;
    if (plan_.steps.empty() || (kernel_launches_ == 0 && has_kernels(plan.launches))) {
      error(plan.launches.front().at,
            fmt::format("no launch applies to {}: every `when` is false",
                        context_.hidden() ? context_.shape_text()
                                          : fmt::format("{} ({})", context_.shape_text(),
                                                        to_string(context_.shape()))),
            "a launch without `when`, or conditions that cover all shapes");
      return;
    }
    for (const Buffer& buffer : plan_.buffers) {
      const bool output = buffer.kind == Buffer::Kind::Output || buffer.kind == Buffer::Kind::InOut;
      if (output && written_.count(buffer.name) == 0) {
        const bool bound = bound_.count(buffer.name) != 0;
        error(plan.launches.front().at,
              fmt::format("output '{}' is {} for {}", buffer.name,
                          bound ? "bound to pointers to const only" : "in no launch's args",
                          context_.shape_text()),
              bound ? "a parameter that is a pointer to non-const"
                    : fmt::format("\"{}\" in the args of the launch that writes it", buffer.name));
      }
    }
  }

  static bool has_kernels(const std::vector<Launch>& launches) {
    return std::any_of(launches.begin(), launches.end(), [](const Launch& launch) {
      const auto* repeat = std::get_if<Repeat>(&launch.what);
      return std::holds_alternative<KernelLaunch>(launch.what) ||
             (repeat != nullptr && has_kernels(repeat->body));
    });
  }

  void error(SourcePosition at, const std::string& what, const std::string& expected) {
    errors_.push_back({context_.file().file, at, what, expected});
  }

  const PlanContext& context_;
  const ParameterChoice& choice_;
  const std::vector<KernelSignature>* signatures_;
  std::vector<Diagnostic>& errors_;
  std::vector<Diagnostic>& warnings_;
  Scope scope_;
  ResolvedPlan plan_;
  std::int64_t work_ = 0;
  std::int64_t kernel_launches_ = 0;
  bool over_limit_ = false;
  std::set<std::string> bound_;   ///< buffers that are arguments
  std::set<std::string> written_; ///< buffers that some step may write
  std::set<std::string> warned_;
};

} // namespace

std::vector<std::string> kernel_names(const KernelFile& file, const Task& task,
                                      const std::vector<Shape>& shapes,
                                      const ParameterChoice& choice, const DeviceFacts& facts,
                                      std::vector<Diagnostic>& errors) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  std::vector<Diagnostic> warnings; // resolve_plan gives them again
  for (const Shape& shape : shapes) {
    const PlanContext context(file, task, shape, facts);
    const auto plan = PlanResolver(context, choice, nullptr, errors, warnings).resolve();
    if (!plan) {
      break; // other shapes would mostly repeat the same mistakes
    }
    for (const Step& step : plan->steps) {
      const auto* launch = std::get_if<LaunchStep>(&step);
      if (launch != nullptr && seen.insert(launch->kernel).second) {
        names.push_back(launch->kernel);
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
  const PlanContext context(file, task, shape, facts);
  return PlanResolver(context, choice, &compiled.signatures, errors, warnings).resolve();
}

} // namespace winnow::tasks
