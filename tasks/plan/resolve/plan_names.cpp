#include "base/text.h"
#include "base/text/positioned_json.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/resolve/plan_context.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

class NameChecker {
public:
  NameChecker(const PlanContext& context, const Scope& scope, const std::vector<Buffer>& buffers)
      : context_(context), all_(buffers), known_(scope.names()) {
    for (const Buffer& buffer : buffers) {
      buffers_.push_back(buffer.name);
    }
  }

  void check() {
    const Plan& plan = context_.file().plan;
    for (const Parameter& parameter : plan.parameters) {
      no_clash(parameter.name, parameter.at, "parameter");
      known_.push_back(parameter.name);
    }
    for (const ScratchBuffer& scratch : plan.scratch) {
      no_clash(scratch.name, scratch.at, "scratch buffer");
    }
    for (const TensorMap& map : plan.tensor_maps) {
      no_clash(map.name, map.at, "tensor map");
    }
    declare(plan.let);
    for (const ScratchBuffer& scratch : plan.scratch) {
      expression(scratch.count);
    }
    launches(plan.prepare);
    all_kept_are_prepared();
    launches(plan.launches);
    for (const TensorMap& map : plan.tensor_maps) {
      if (maps_checked_.count(map.name) == 0) {
        tensor_map(map);
      }
    }
  }

private:
  // A name of the plan may hide a device fact, so that a new fact does not break old files.
  void no_clash(const std::string& name, SourcePosition at, std::string_view kind) const {
    const Task& task = context_.task();
    const bool axis = find_named(task.axes, name) != nullptr;
    const bool scalar = find_named(task.scalars, name) != nullptr;
    if (axis || scalar || task.find_tensor(name) != nullptr) {
      context_.fail(at,
                    fmt::format("{} '{}' has the name of {} of the task", kind, name,
                                axis     ? "an axis"
                                : scalar ? "a scalar"
                                         : "a tensor"),
                    "another name");
    }
  }

  void declare(const std::vector<LetBinding>& bindings) {
    for (const LetBinding& binding : bindings) {
      no_clash(binding.name, binding.value.at, "let binding");
      known_.push_back(binding.name);
    }
    for (const LetBinding& binding : bindings) {
      expression(binding.value);
      placeholders(binding);
    }
  }

  // Only parameters may be placeholders, because the code is compiled once for all shapes.
  void placeholders(const LetBinding& binding) const {
    replace_placeholders(
        binding.device_constant, [&](std::string_view name) -> std::optional<std::string> {
          const bool parameter = context_.choice().count(std::string(name)) != 0;
          if (!parameter && contains(known_, name)) {
            context_.fail(binding.value.at,
                          fmt::format("'{{{}}}' in the device constant of '{}' is not a parameter",
                                      name, binding.name),
                          "params only: device code is compiled once for all shapes");
          }
          return std::nullopt;
        });
  }

  // In the scope of a launch that takes the map, so that loop variables are known.
  void tensor_map(const TensorMap& map) {
    maps_checked_.insert(map.name);
    buffer(map.buffer);
    one_dtype(map);
    for (const auto* list : {&map.extents, &map.strides, &map.box, &map.element_strides}) {
      expressions(*list);
    }
  }

  void one_dtype(const TensorMap& map) const {
    const auto dtype = [&](const std::optional<std::string>& name) {
      return find_named(all_, name.value_or(""))->dtype;
    };
    const auto& pick = map.buffer.pick;
    const auto other = std::find_if(pick.begin(), pick.end(), [&](const auto& name) {
      return dtype(name) != dtype(pick.front());
    });
    if (!map.dtype && other != pick.end()) {
      context_.fail(map.buffer.at,
                    fmt::format("tensor map '{}' picks from '{}' and '{}', whose dtypes differ",
                                map.name, *pick.front(), **other),
                    "buffers of one dtype, or \"dtype\" in the tensor map");
    }
  }

  // Without this rule, a kept buffer could stay unwritten.
  void all_kept_are_prepared() const {
    for (const ScratchBuffer& scratch : context_.file().plan.scratch) {
      if (scratch.keep && mentioned_.count(scratch.name) == 0) {
        context_.fail(scratch.at,
                      fmt::format("scratch '{}' is kept, but no launch of \"prepare\" writes it",
                                  scratch.name),
                      "a launch in \"prepare\" that writes the buffer, or no \"keep\"");
      }
    }
  }

  void expressions(const std::vector<PlanExpression>& list) const {
    for (const PlanExpression& value : list) {
      expression(value);
    }
  }

  void expression(const PlanExpression& value, bool real = false) const {
    for (const std::string& name : value.expression.names()) {
      const bool constant = real && float_constant(name);
      if (constant || contains(known_, name)) {
        continue;
      }
      const SourcePosition at =
          position_in_string(context_.file().text, value.at, value.expression.column_of(name));
      if (contains(buffers_, name)) {
        context_.fail(
            at,
            fmt::format("'{}' in expression '{}' is a buffer, not a number", name, text_of(value)),
            fmt::format("numbers only ({{\"tensor\": \"{}\", \"at\": \"...\"}} is the buffer "
                        "from an element on)",
                        name));
      }
      context_.fail(at,
                    fmt::format("unknown name '{}' in expression '{}'{}", name, text_of(value),
                                suggestion(name, newest_first())),
                    "an axis, scalar, parameter, let binding or device fact");
    }
  }

  void buffer(const BufferReference& reference) {
    for (const auto& name : reference.pick) {
      mentioned_.insert(name.value_or(""));
      if (name && !contains(buffers_, *name)) {
        context_.fail(reference.at,
                      fmt::format("unknown buffer '{}'{}", *name, suggestion(*name, buffers_)),
                      "a tensor of the task or a scratch buffer");
      }
    }
    expression(reference.by);
    expression(reference.offset);
  }

  void argument(const Argument& argument) {
    if (const auto* integer = std::get_if<IntegerArgument>(&argument)) {
      const std::string& text = integer->value.expression.text();
      if (contains(buffers_, text)) {
        mentioned_.insert(text);
        return;
      }
      if (is_identifier(text) && !contains(known_, text)) {
        context_.fail(
            integer->value.at,
            fmt::format("unknown name '{}' in args{}", text, suggestion(text, all_names())),
            "a tensor, scratch buffer, axis, scalar, parameter or let binding");
      }
      expression(integer->value);
    } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      expression(real->value, true);
    } else if (const auto* reference = std::get_if<BufferReference>(&argument)) {
      buffer(*reference);
    } else if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      tensor_map_name(*map);
    }
  }

  // Names of numbers in the order of usefulness for a message: device facts come last.
  std::vector<std::string> newest_first() const { return {known_.rbegin(), known_.rend()}; }

  std::vector<std::string> all_names() const {
    std::vector<std::string> all = newest_first();
    all.insert(all.begin(), buffers_.begin(), buffers_.end());
    return all;
  }

  void tensor_map_name(const TensorMapArgument& argument) {
    std::vector<std::string> maps;
    for (const TensorMap& map : context_.file().plan.tensor_maps) {
      if (map.name == argument.map) {
        tensor_map(map);
        return;
      }
      maps.push_back(map.name);
    }
    context_.fail(
        argument.at,
        fmt::format("unknown tensor map '{}'{}", argument.map, suggestion(argument.map, maps)),
        "a name of \"tensor_maps\"");
  }

  void launches(const std::vector<Launch>& list) {
    for (const Launch& launch : list) {
      expression(launch.when);
      std::visit([this](const auto& what) { check_launch(what); }, launch.what);
    }
  }

  void check_launch(const KernelLaunch& kernel) {
    known_.emplace_back("resident_blocks");
    expressions(kernel.grid);
    known_.pop_back();
    expressions(kernel.block);
    expressions(kernel.cluster);
    expression(kernel.shared_bytes);
    for (const Argument& item : kernel.arguments) {
      argument(item);
    }
  }

  void check_launch(const Fill& fill) {
    buffer(fill.buffer);
    expression(fill.count);
  }

  void check_launch(const Copy& copy) {
    buffer(copy.from);
    buffer(copy.to);
    for (const PlanExpression* value :
         {&copy.count, &copy.rows, &copy.from_stride, &copy.to_stride}) {
      expression(*value);
    }
  }

  void check_launch(const Repeat& repeat) {
    expression(repeat.times);
    const std::size_t outer = known_.size();
    if (!repeat.as.empty()) {
      no_clash(repeat.as, repeat.times.at, "loop variable");
      known_.push_back(repeat.as);
    }
    declare(repeat.let);
    launches(repeat.body);
    known_.resize(outer);
  }

  const PlanContext& context_;
  const std::vector<Buffer>& all_;
  std::vector<std::string> known_;
  std::vector<std::string> buffers_;
  std::set<std::string> mentioned_; ///< buffers in the launches checked so far
  std::set<std::string> maps_checked_;
};

} // namespace

void check_names(const PlanContext& context, const Scope& scope,
                 const std::vector<Buffer>& buffers) {
  NameChecker(context, scope, buffers).check();
}

} // namespace winnow::tasks
