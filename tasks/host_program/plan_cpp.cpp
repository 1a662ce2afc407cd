#include "tasks/host_program/plan_cpp.h"

#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/plan/device_facts.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/resolve/plan_tensor_map.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace winnow::tasks {
namespace {

using Names = std::set<std::string>;

const Names& words_of_cpp() {
  static const Names words{
      "alignas",   "alignof",  "and",     "asm",       "auto",      "bool",     "break",
      "case",      "catch",    "char",    "class",     "const",     "continue", "default",
      "delete",    "do",       "double",  "else",      "enum",      "explicit", "export",
      "extern",    "false",    "float",   "for",       "friend",    "goto",     "if",
      "inline",    "int",      "long",    "mutable",   "namespace", "new",      "not",
      "operator",  "or",       "private", "protected", "public",    "register", "return",
      "short",     "signed",   "sizeof",  "static",    "struct",    "switch",   "template",
      "this",      "throw",    "true",    "try",       "typedef",   "typename", "union",
      "unsigned",  "using",    "virtual", "void",      "volatile",  "while",    "xor",
      "constexpr", "decltype", "nullptr", "noexcept",  "S",         "plan",     "double",
      "linux",     "unix",     "NULL",    "NAN",       "INFINITY",  "stdin",    "stdout",
      "stderr",    "std",      "dim3",    "errno",     "winnow",    "reference"};
  return words;
}

const Names& device_facts() {
  static const Names names = [] {
    Names all;
    for (const auto& [name, value] : fact_values({})) {
      all.insert(name);
    }
    return all;
  }();
  return names;
}

std::string string_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    literal += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return literal + "\"";
}

std::string bytes_name(int bytes, const char* unit) {
  return bytes == 0 ? "NONE" : fmt::format("{}{}B", unit, bytes);
}

class PlanWriter {
public:
  PlanWriter(const PlanToWrite& plan, std::string scope)
      : plan_(plan.file.plan), task_(plan.task), choice_(plan.choice), scope_(std::move(scope)),
        kernel_values_(kernel_values(plan)) {
    for (const TensorSpec& tensor : task_.tensors) {
      add_buffer(tensor.name, tensor.dtype);
    }
    for (const ScratchBuffer& scratch : plan_.scratch) {
      add_buffer(scratch.name, scratch.dtype);
    }
    for (const auto* launches : {&plan_.prepare, &plan_.launches}) {
      each_launch(*launches, [&](const Launch& launch) {
        if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
          loop_names_.insert(repeat->as);
          for (const LetBinding& binding : repeat->let) {
            loop_names_.insert(binding.name);
          }
        }
      });
    }
    names_ = {[this](const std::string& name) { return variable(name); },
              [this](const std::string& name) {
                return Expression::parse("sizeof(" + name + ")").evaluate(sizes_);
              }};
    for (const PlanExpression* value : expressions_of(plan_)) {
      for (std::string& name : value->expression.names()) {
        used_.insert(std::move(name));
      }
    }
  }

  std::string text(const std::string& name) {
    std::string out = "struct " + name + " {\n";
    for (const auto& [parameter, value] : choice_) {
      out += fmt::format("  static constexpr plan::Number {} = {};\n", cpp_name(parameter), value);
    }
    out += function("scratch", "std::vector<plan::Buffer>& buffers_", scratch_text());
    out += "  static void fill_once(cudaStream_t stream_, const plan::Buffer* buffers_) {\n" +
           once_text() + "  }\n";
    out += steps("prepare", plan_.prepare) + steps("run", plan_.launches);
    return out + "};\n";
  }

private:
  void add_buffer(const std::string& name, DType dtype) {
    sizes_.set("sizeof(" + name + ")", static_cast<std::int64_t>(size_bytes(dtype)));
    buffers_.emplace_back(name, dtype);
  }
  std::optional<DType> buffer_type(const std::string& name) const {
    const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                    [&](const auto& buffer) { return buffer.first == name; });
    return found == buffers_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string variable(const std::string& name) const {
    const auto constant = float_constant(name);
    const bool is_own = is_defined(name) || loop_names_.contains(name);
    return constant && !is_own ? real_literal(*constant) : cpp_name(name);
  }

  std::string integer(const PlanExpression& value) const {
    return integer_cpp(value.expression, names_);
  }
  std::string integer_or(const PlanExpression& value, const char* otherwise) const {
    return value.expression.empty() ? otherwise : integer(value);
  }

  std::string function(const char* name, const char* parameters, const std::string& body) const {
    return fmt::format("  static void {}(const plan::Sizes& sizes_, const plan::Device& device_,\n"
                       "      {}) {{\n{}{}  }}\n",
                       name, parameters, body.empty() ? "" : names_text(), body);
  }
  std::string steps(const char* name, const std::vector<Launch>& launches) const {
    return function(name, "cudaStream_t stream_, const plan::Buffer* buffers_",
                    launches.empty() ? "" : buffers_text() + maps_text() + steps_text(launches, 2));
  }

  static std::string constant(const char* type, const std::string& name, const std::string& value) {
    return fmt::format("    [[maybe_unused]] const {} {} = {};\n", type, cpp_name(name), value);
  }

  /// The names that expressions may use.
  std::string names_text() const {
    std::string out;
    for (const Axis& axis : task_.axes) {
      out += constant("plan::Number", axis.name, "sizes_." + cpp_name(axis.name));
    }
    for (const ScalarSpec& scalar : task_.scalars) {
      out += constant(is_floating(scalar.dtype) ? "double" : "plan::Number", scalar.name,
                      "sizes_." + cpp_name(scalar.name));
    }
    for (const std::string& fact : device_facts()) {
      if (used_.contains(fact) && !is_defined(fact)) {
        out += constant("plan::Number", fact, "device_." + fact);
      }
    }
    return out + bindings_text(plan_.let, 4);
  }

  bool is_defined(const std::string& name) const {
    return find_named(plan_.let, name) || find_named(plan_.parameters, name) ||
           find_named(task_.axes, name) || find_named(task_.scalars, name);
  }

  std::string bindings_text(const std::vector<LetBinding>& bindings, std::size_t indent) const {
    std::string out;
    for (const LetBinding* binding : in_order_of_use(bindings)) {
      const std::string margin(indent, ' ');
      if (!binding->table.empty()) {
        out += fmt::format("{}static constexpr plan::Number {}_table_[] = {{{}}};\n", margin,
                           binding->name, fmt::join(binding->table, ", "));
      }
      out += fmt::format("{}[[maybe_unused]] const plan::Number {} = {};\n", margin,
                         cpp_name(binding->name), bound_value(*binding));
    }
    return out;
  }

  std::string bound_value(const LetBinding& binding) const {
    if (!binding.table.empty()) {
      return fmt::format("plan::entry(\"{0}\", {0}_table_, {1})", binding.name,
                         integer(binding.value));
    }
    return binding.device_constant.empty() ? integer(binding.value) : device_constant(binding);
  }

  std::string device_constant(const LetBinding& binding) const {
    const std::string text = replace_placeholders(
        binding.device_constant, [&](std::string_view name) -> std::optional<std::string> {
          const bool known = find_named(plan_.parameters, name) != nullptr;
          return known ? std::optional(cpp_name(std::string(name))) : std::nullopt;
        });
    return "static_cast<plan::Number>(" + text + ")";
  }

  std::string scratch_text() const {
    std::string out;
    for (const ScratchBuffer& scratch : plan_.scratch) {
      out +=
          fmt::format("    buffers_.push_back({{\"{}\", {}, {}, {}}});\n", scratch.name,
                      dtype_cpp(scratch.dtype), size_bytes(scratch.dtype), integer(scratch.count));
    }
    return out;
  }
  std::string once_text() const {
    std::string out;
    for (std::size_t i = 0; i < plan_.scratch.size(); ++i) {
      if (const auto& once = plan_.scratch[i].once) {
        out += fmt::format("    plan::fill(stream_, {{&buffers_[{}]}}, {}, -1);\n",
                           task_.tensors.size() + i, real_literal(*once));
      }
    }
    return out;
  }

  std::string buffers_text() const {
    std::string out;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      out += fmt::format("    [[maybe_unused]] const plan::Buffer& {} = buffers_[{}];\n",
                         cpp_name(buffers_[i].first), i);
    }
    return out;
  }

  std::string list(const std::vector<PlanExpression>& values) const {
    auto texts =
        each<std::string>(values, [&](const PlanExpression& value) { return integer(value); });
    return "{" + join(texts, ", ") + "}";
  }

  /// A tensor map is encoded where a launch uses it. A map with values of a loop is written there.
  std::string maps_text() const {
    std::string out;
    for (const TensorMap& map : plan_.tensor_maps) {
      if (!has_loop_values(map)) {
        out += fmt::format("    [[maybe_unused]] const auto {} = [&] {{\n"
                           "      return {};\n"
                           "    }};\n",
                           cpp_name(map.name), map_text(map, "                              "));
      }
    }
    return out;
  }

  bool has_loop_values(const TensorMap& map) const {
    const std::vector<const PlanExpression*> values = expressions_of(map);
    return std::any_of(values.begin(), values.end(), [&](const PlanExpression* value) {
      const std::vector<std::string> names = value->expression.names();
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return loop_names_.contains(name) && !is_defined(name);
      });
    });
  }

  std::string map_text(const TensorMap& map, const std::string& margin) const {
    const DType dtype =
        map.dtype.value_or(buffer_type(map.buffer.pick.front().value_or("")).value_or(DType::U8));
    const TensorMapOptions& options = map.options;
    return fmt::format("plan::tensor_map({1}, CU_TENSOR_MAP_DATA_TYPE_{2}, {3},\n"
                       "{0}{4}, {5}, {6}, {7},\n"
                       "{0}CU_TENSOR_MAP_INTERLEAVE_{8}, CU_TENSOR_MAP_SWIZZLE_{9},\n"
                       "{0}CU_TENSOR_MAP_L2_PROMOTION_{10},\n"
                       "{0}CU_TENSOR_MAP_FLOAT_OOB_FILL_{11})",
                       margin, place(map.buffer), row_of(dtype).tensor_map, size_bytes(dtype),
                       list(map.extents), list(map.strides), list(map.box),
                       list(map.element_strides),
                       bytes_name(static_cast<int>(options.interleave), ""),
                       bytes_name(static_cast<int>(options.swizzle), ""),
                       bytes_name(static_cast<int>(options.l2_promotion), "L2_"),
                       options.fill == OutOfBoundsFill::NaN ? "NAN_REQUEST_ZERO_FMA" : "NONE");
  }

  std::string map_argument(const TensorMapArgument& argument, const std::string& indent) const {
    const TensorMap* map = find_named(plan_.tensor_maps, argument.map);
    return has_loop_values(*map) ? map_text(*map, indent + "                 ")
                                 : cpp_name(map->name) + "()";
  }

  std::string place(const BufferReference& reference) const {
    const std::string offset = integer_or(reference.offset, "0");
    if (reference.by.expression.empty()) {
      const auto& name = reference.pick.front();
      return name ? fmt::format("plan::Place{{&{}, {}}}", cpp_name(*name), offset)
                  : "plan::Place{}";
    }
    auto names = each<std::string>(
        reference.pick, [&](const auto& name) { return name ? "&" + cpp_name(*name) : "nullptr"; });
    return fmt::format("plan::pick({}, {{{}}}, {})", integer(reference.by), join(names, ", "),
                       offset);
  }

  std::string argument(const Argument& argument, const std::string& indent) const {
    if (std::holds_alternative<NullArgument>(argument)) {
      return "plan::Place{}";
    }
    if (const auto* reference = std::get_if<BufferReference>(&argument)) {
      return place(*reference);
    }
    if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      return map_argument(*map, indent);
    }
    if (const auto* real = std::get_if<FloatArgument>(&argument)) {
      return real_cpp(real->value.expression, names_);
    }
    const Expression& value = std::get<IntegerArgument>(argument).value.expression;
    if (buffer_type(value.text())) {
      return fmt::format("plan::Place{{&{}}}", cpp_name(value.text()));
    }
    return integer_cpp(value, names_); // also the name of a float scalar
  }

  std::string steps_text(const std::vector<Launch>& launches, std::size_t depth) const {
    std::string out;
    for (const Launch& launch : launches) {
      out += step_text(launch, depth);
    }
    return out;
  }

  std::string step_text(const Launch& launch, std::size_t depth) const {
    const std::string indent(2 * depth, ' ');
    if (!launch.when.expression.empty()) {
      Launch inner = launch;
      inner.when = {};
      return fmt::format("{}if (({}) != 0) {{\n", indent, integer(launch.when)) +
             step_text(inner, depth + 1) + indent + "}\n";
    }
    if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
      return kernel_text(*kernel, launch.at, indent);
    }
    if (const auto* fill = std::get_if<Fill>(&launch.what)) {
      return fmt::format("{}plan::fill(stream_, {}, {}, {});\n", indent, place(fill->buffer),
                         real_literal(fill->value), integer_or(fill->count, "-1"));
    }
    if (const auto* copy = std::get_if<Copy>(&launch.what)) {
      return fmt::format("{}plan::copy(stream_, {}, {}, {}, {}, {}, {});\n", indent,
                         place(copy->from), place(copy->to), integer_or(copy->count, "-1"),
                         integer_or(copy->rows, "1"), integer_or(copy->from_stride, "-1"),
                         integer_or(copy->to_stride, "-1"));
    }
    return repeat_text(std::get<Repeat>(launch.what), depth);
  }

  std::string repeat_text(const Repeat& repeat, std::size_t depth) const {
    const std::string indent(2 * depth, ' ');
    const std::string index =
        repeat.as.empty() ? fmt::format("index{}_", depth) : cpp_name(repeat.as);
    return fmt::format("{0}for (plan::Number {2} = 0, end{3}_ = {1}; {2} < end{3}_; ++{2}) {{\n",
                       indent, integer(repeat.times), index, depth) +
           bindings_text(repeat.let, 2 * depth + 2) + steps_text(repeat.body, depth + 1) + indent +
           "}\n";
  }

  /// The name of the kernel at these values of its `late` placeholders.
  std::string kernel_name(const KernelLaunch& launch, const std::vector<std::string>& late,
                          const NameValues& values) const {
    constexpr std::string_view kDType = "dtype:";
    return scope_ +
           replace_placeholders(
               launch.kernel, [&](std::string_view inside) -> std::optional<std::string> {
                 if (inside.starts_with(kDType)) {
                   const auto dtype = buffer_type(std::string(trim(inside.substr(kDType.size()))));
                   return dtype ? std::optional(std::string(device_type_name(*dtype)))
                                : std::nullopt;
                 }
                 const auto found = std::find(late.begin(), late.end(), inside);
                 if (found != late.end()) {
                   return std::to_string(values[static_cast<std::size_t>(found - late.begin())]);
                 }
                 return is_identifier(inside) ? std::optional(cpp_name(std::string(inside)))
                                              : std::nullopt;
               });
  }

  std::string size3(const std::vector<PlanExpression>& values) const {
    return "plan::Size3" + list(values);
  }

  /// One launch, or a choice of the kernel by the values in its name.
  std::string kernel_text(const KernelLaunch& launch, SourcePosition at,
                          const std::string& indent) const {
    const std::vector<std::string> late = late_names(launch, plan_);
    if (late.empty()) {
      const std::string kernel = kernel_name(launch, {}, {});
      return uses_resident(launch)
                 ? indent + "{\n" + call_text(launch, kernel, indent + "  ") + indent + "}\n"
                 : call_text(launch, kernel, indent);
    }
    const auto values = kernel_values_.find({at.line, at.column});
    if (values == kernel_values_.end()) { // no shape comes here
      return no_kernel_text(launch, late, indent);
    }
    std::string out = indent + "{\n" + indent + "  const auto launch_ = [&](auto kernel_) {\n" +
                      call_text(launch, "kernel_", indent + "    ") + indent + "  };\n" + indent +
                      "  ";
    for (const NameValues& one : values->second) {
      out += choice_text(launch, late, one, indent + "  ");
    }
    return out + "{\n" + no_kernel_text(launch, late, indent + "    ") + indent + "  }\n" + indent +
           "}\n";
  }

  static std::string no_kernel_text(const KernelLaunch& launch,
                                    const std::vector<std::string>& late,
                                    const std::string& indent) {
    std::string seen = "std::string()";
    for (const std::string& name : late) {
      seen += fmt::format(" + \" {} = \" + std::to_string({})", name, cpp_name(name));
    }
    return fmt::format("{}plan::no_kernel({}, {});\n", indent, string_literal(launch.kernel), seen);
  }

  std::string choice_text(const KernelLaunch& launch, const std::vector<std::string>& late,
                          const NameValues& values, const std::string& indent) const {
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < late.size(); ++i) {
      conditions.push_back(fmt::format("{} == {}", cpp_name(late[i]), values[i]));
    }
    return fmt::format("if ({1}) {{\n{0}  launch_({2});\n{0}}} else ", indent,
                       join(conditions, " && "), kernel_name(launch, late, values));
  }

  static bool uses_resident(const KernelLaunch& launch) {
    return std::any_of(launch.grid.begin(), launch.grid.end(), [](const PlanExpression& value) {
      return value.expression.column_of(kResidentBlocks) != 0;
    });
  }

  std::string call_text(const KernelLaunch& launch, const std::string& kernel,
                        const std::string& indent) const {
    const std::string shared = integer_or(launch.shared_bytes, "0");
    std::string out;
    if (uses_resident(launch)) {
      out = fmt::format("{0}const plan::Number {1} =\n"
                        "{0}    plan::resident_blocks(device_, {2}, {3}, {4});\n",
                        indent, kResidentBlocks, kernel, size3(launch.block), shared);
    }
    out += fmt::format("{0}plan::launch(stream_, {1}, {2}, {3},\n{0}             {4}, {5}, {6}",
                       indent, kernel, size3(launch.grid), size3(launch.block), shared,
                       size3(launch.cluster), launch.cooperative);
    for (const Argument& one : launch.arguments) {
      out += fmt::format(",\n{}             {}", indent, argument(one, indent));
    }
    return out + ");\n";
  }

  const Plan& plan_;
  const Task& task_;
  const ParameterChoice& choice_;
  std::string scope_;
  std::map<std::pair<int, int>, std::set<NameValues>> kernel_values_;
  std::vector<std::pair<std::string, DType>> buffers_;
  Scope sizes_;
  CppNames names_;
  Names used_;
  Names loop_names_; ///< loop variables and the let bindings of loops
};

} // namespace

std::string sizes_cpp(const Task& task) {
  std::string text = "namespace plan {\nstruct Sizes {\n";
  for (const Axis& axis : task.axes) {
    text += "  plan::Number " + cpp_name(axis.name) + ";\n";
  }
  for (const ScalarSpec& scalar : task.scalars) {
    text += fmt::format("  {} {};\n", is_floating(scalar.dtype) ? "double" : "plan::Number",
                        cpp_name(scalar.name));
  }
  return text + "};\n} // namespace plan\n";
}

std::string plan_cpp(const PlanToWrite& plan, const std::string& name, const std::string& scope) {
  return PlanWriter(plan, scope).text(name);
}

std::string cpp_name(const std::string& name) {
  return words_of_cpp().contains(name) || name.ends_with('_') ? name + "_of_plan" : name;
}

std::string dtype_cpp(DType dtype) {
  return fmt::format("winnow::tasks::DType::{}", row_of(dtype).enumerator);
}

} // namespace winnow::tasks
