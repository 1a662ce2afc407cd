#include "tasks/host_program/plan_cpp.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/plan/device_facts.h"
#include "tasks/plan/placeholders.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include <fmt/format.h>

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
  static const Names facts = [] {
    Scope scope;
    bind_facts({}, scope);
    const std::vector<std::string> names = scope.names();
    return Names(names.begin(), names.end());
  }();
  return facts;
}

bool is_empty(const PlanExpression& value) {
  return value.expression.empty();
}

/// Visits the expressions of launches, and the let bindings of their loops.
void collect(const std::vector<Launch>& launches, std::vector<const PlanExpression*>& found) {
  const auto add = [&](const PlanExpression& value) {
    if (!is_empty(value)) {
      found.push_back(&value);
    }
  };
  const auto add_place = [&](const BufferReference& place) {
    add(place.by);
    add(place.offset);
  };
  for (const Launch& launch : launches) {
    add(launch.when);
    if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
      for (const auto* sizes : {&kernel->grid, &kernel->block, &kernel->cluster}) {
        std::for_each(sizes->begin(), sizes->end(), add);
      }
      add(kernel->shared_bytes);
      for (const Argument& argument : kernel->arguments) {
        if (const auto* integer = std::get_if<IntegerArgument>(&argument)) {
          add(integer->value);
        } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
          add(real->value);
        } else if (const auto* place = std::get_if<BufferReference>(&argument)) {
          add_place(*place);
        }
      }
    } else if (const auto* fill = std::get_if<Fill>(&launch.what)) {
      add_place(fill->buffer);
      add(fill->count);
    } else if (const auto* copy = std::get_if<Copy>(&launch.what)) {
      add_place(copy->from);
      add_place(copy->to);
      for (const auto* value : {&copy->count, &copy->rows, &copy->from_stride, &copy->to_stride}) {
        add(*value);
      }
    } else {
      const auto& repeat = std::get<Repeat>(launch.what);
      add(repeat.times);
      for (const LetBinding& binding : repeat.let) {
        add(binding.value);
      }
      collect(repeat.body, found);
    }
  }
}

std::vector<const PlanExpression*> expressions_of(const Plan& plan) {
  std::vector<const PlanExpression*> found;
  for (const LetBinding& binding : plan.let) {
    if (binding.device_constant.empty()) {
      found.push_back(&binding.value);
    }
  }
  for (const ScratchBuffer& scratch : plan.scratch) {
    found.push_back(&scratch.count);
  }
  for (const TensorMap& map : plan.tensor_maps) {
    for (const auto* values : {&map.extents, &map.strides, &map.box, &map.element_strides}) {
      for (const PlanExpression& value : *values) {
        found.push_back(&value);
      }
    }
    for (const auto* value : {&map.buffer.by, &map.buffer.offset}) {
      if (!is_empty(*value)) {
        found.push_back(value);
      }
    }
  }
  collect(plan.prepare, found);
  collect(plan.launches, found);
  return found;
}

/// The bindings in an order in which each one uses only earlier ones.
std::vector<const LetBinding*> ordered(const std::vector<LetBinding>& bindings) {
  std::vector<const LetBinding*> order;
  Names done;
  for (std::size_t round = 0; round < bindings.size() && order.size() < bindings.size(); ++round) {
    for (const LetBinding& binding : bindings) {
      const std::vector<std::string> names = binding.device_constant.empty()
                                                 ? binding.value.expression.names()
                                                 : std::vector<std::string>{};
      const bool ready = std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        return !done.contains(name) && std::any_of(bindings.begin(), bindings.end(),
                                                   [&](const auto& b) { return b.name == name; });
      });
      if (!done.contains(binding.name) && ready) {
        done.insert(binding.name);
        order.push_back(&binding);
      }
    }
  }
  return order;
}

const char* map_type(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "FLOAT32";
  case DType::F64:
    return "FLOAT64";
  case DType::F16:
    return "FLOAT16";
  case DType::BF16:
    return "BFLOAT16";
  case DType::I16:
  case DType::U16:
    return "UINT16";
  case DType::I32:
    return "INT32";
  case DType::U32:
    return "UINT32";
  case DType::I64:
    return "INT64";
  case DType::U64:
    return "UINT64";
  default:
    return "UINT8";
  }
}

std::string bytes_name(int bytes, const char* unit) {
  return bytes == 0 ? "NONE" : fmt::format("{}{}B", unit, bytes);
}

class PlanWriter {
public:
  PlanWriter(const KernelFile& file, const Task& task, std::string scope)
      : file_(file), plan_(file.plan), task_(task), scope_(std::move(scope)) {
    for (const TensorSpec& tensor : task.tensors) {
      add_buffer(tensor.name, tensor.dtype);
    }
    for (const ScratchBuffer& scratch : plan_.scratch) {
      add_buffer(scratch.name, scratch.dtype);
    }
    collect_loop_names(plan_.prepare);
    collect_loop_names(plan_.launches);
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
    out += function("scratch", "const plan::Device& device_, std::vector<plan::Buffer>& buffers_",
                    scratch_text());
    const std::string steps = "cudaStream_t stream_, const plan::Device& device_, "
                              "const plan::Buffer* buffers_";
    out += function("prepare", steps, buffers_text() + maps_text() + steps_text(plan_.prepare, 2));
    out += function("run", steps, buffers_text() + maps_text() + steps_text(plan_.launches, 2));
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

  void collect_loop_names(const std::vector<Launch>& launches) {
    for (const Launch& launch : launches) {
      if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
        loop_names_.insert(repeat->as);
        for (const LetBinding& binding : repeat->let) {
          loop_names_.insert(binding.name);
        }
        collect_loop_names(repeat->body);
      }
    }
  }

  std::string variable(const std::string& name) const {
    static const std::map<std::string, double> constants{
        {"e", std::numbers::e},
        {"pi", std::numbers::pi},
        {"inf", std::numeric_limits<double>::infinity()}};
    const auto constant = constants.find(name);
    const bool is_own = is_defined(name) || loop_names_.contains(name);
    return constant != constants.end() && !is_own ? real_literal(constant->second) : cpp_name(name);
  }

  std::string integer(const PlanExpression& value) const {
    return integer_cpp(value.expression, names_);
  }
  std::string integer_or(const PlanExpression& value, const char* otherwise) const {
    return is_empty(value) ? otherwise : integer(value);
  }

  /// Whether C++ knows the value only when the program runs.
  bool is_late(const Expression& expression) const {
    const std::vector<std::string> names = expression.names();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return late_.contains(name) || (device_facts().contains(name) && !is_defined(name));
    });
  }

  std::string function(const char* name, const std::string& parameters, const std::string& body) {
    return fmt::format("  template <class S>\n  static void {}({}) {{\n    (void)device_;\n{}{}  "
                       "}}\n",
                       name, parameters, names_text(), body);
  }

  static std::string constant(const char* type, const std::string& name, const std::string& value) {
    return fmt::format("    [[maybe_unused]] {} {} = {};\n", type, cpp_name(name), value);
  }

  /// The names that expressions may use.
  std::string names_text() {
    late_.clear();
    std::string out;
    for (const Parameter& parameter : plan_.parameters) {
      out += constant("constexpr plan::Number", parameter.name, "S::" + cpp_name(parameter.name));
    }
    for (const Axis& axis : task_.axes) {
      out += constant("constexpr plan::Number", axis.name, "S::" + cpp_name(axis.name));
    }
    for (const ScalarSpec& scalar : task_.scalars) {
      const bool real = is_floating(scalar.dtype);
      out += constant(real ? "constexpr double" : "constexpr plan::Number", scalar.name,
                      "S::" + cpp_name(scalar.name));
    }
    for (const std::string& fact : device_facts()) {
      if (used_.contains(fact) && !is_defined(fact)) {
        out += constant("const plan::Number", fact, "device_." + fact);
        late_.insert(fact);
      }
    }
    return out + bindings_text(plan_.let, 4);
  }

  bool is_defined(const std::string& name) const {
    const auto named = [&](const auto& entry) { return entry.name == name; };
    return std::any_of(plan_.let.begin(), plan_.let.end(), named) ||
           std::any_of(plan_.parameters.begin(), plan_.parameters.end(), named) ||
           std::any_of(task_.axes.begin(), task_.axes.end(), named) ||
           std::any_of(task_.scalars.begin(), task_.scalars.end(), named);
  }

  std::string bindings_text(const std::vector<LetBinding>& bindings, std::size_t indent) {
    std::string out;
    for (const LetBinding* binding : ordered(bindings)) {
      const bool is_device = !binding->device_constant.empty();
      const bool late = !is_device && is_late(binding->value.expression);
      late ? void(late_.insert(binding->name)) : void(late_.erase(binding->name));
      out += std::string(indent, ' ') +
             fmt::format("[[maybe_unused]] {} plan::Number {} = {};\n",
                         late ? "const" : "constexpr", cpp_name(binding->name),
                         is_device ? device_constant(*binding) : integer(binding->value));
    }
    return out;
  }

  std::string device_constant(const LetBinding& binding) const {
    const std::string text = replace_placeholders(
        binding.device_constant, [&](std::string_view name) -> std::optional<std::string> {
          const bool known = std::any_of(plan_.parameters.begin(), plan_.parameters.end(),
                                         [&](const auto& entry) { return entry.name == name; });
          return known ? std::optional(cpp_name(std::string(name))) : std::nullopt;
        });
    return "static_cast<plan::Number>(" + text + ")";
  }

  std::string scratch_text() const {
    std::string out;
    for (const ScratchBuffer& scratch : plan_.scratch) {
      out += fmt::format("    buffers_.push_back({{\"{}\", {}, {}}});\n"
                         "    plan::allocate(buffers_.back(), {});\n",
                         scratch.name, dtype_cpp(scratch.dtype), size_bytes(scratch.dtype),
                         integer(scratch.count));
      if (scratch.once) {
        out += fmt::format("    plan::fill(nullptr, {{&buffers_.back()}}, {}, -1);\n",
                           real_literal(*scratch.once));
      }
    }
    return out.empty() ? "    (void)buffers_;\n" : out;
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
    std::vector<std::string> texts;
    for (const PlanExpression& value : values) {
      texts.push_back(integer(value));
    }
    return "{" + join(texts, ", ") + "}";
  }

  /// A tensor map is encoded where a launch uses it.
  std::string maps_text() const {
    std::string out;
    for (const TensorMap& map : plan_.tensor_maps) {
      const DType dtype =
          map.dtype.value_or(buffer_type(map.buffer.pick.front().value_or("")).value_or(DType::U8));
      const TensorMapOptions& options = map.options;
      out += fmt::format(
          "    [[maybe_unused]] const auto {} = [&] {{\n"
          "      return plan::tensor_map({}, CU_TENSOR_MAP_DATA_TYPE_{}, {},\n"
          "                              {}, {}, {}, {},\n"
          "                              CU_TENSOR_MAP_INTERLEAVE_{}, CU_TENSOR_MAP_SWIZZLE_{},\n"
          "                              CU_TENSOR_MAP_L2_PROMOTION_{},\n"
          "                              CU_TENSOR_MAP_FLOAT_OOB_FILL_{});\n"
          "    }};\n",
          cpp_name(map.name), place(map.buffer), map_type(dtype), size_bytes(dtype),
          list(map.extents), list(map.strides), list(map.box), list(map.element_strides),
          bytes_name(static_cast<int>(options.interleave), ""),
          bytes_name(static_cast<int>(options.swizzle), ""),
          bytes_name(static_cast<int>(options.l2_promotion), "L2_"),
          options.fill == OutOfBoundsFill::NaN ? "NAN_REQUEST_ZERO_FMA" : "NONE");
    }
    return out;
  }

  std::string place(const BufferReference& reference) const {
    const std::string offset = integer_or(reference.offset, "0");
    if (is_empty(reference.by)) {
      const auto& name = reference.pick.front();
      return name ? fmt::format("plan::Place{{&{}, {}}}", cpp_name(*name), offset)
                  : "plan::Place{}";
    }
    std::vector<std::string> names;
    for (const auto& name : reference.pick) {
      names.push_back(name ? "&" + cpp_name(*name) : "nullptr");
    }
    return fmt::format("plan::pick({}, {{{}}}, {})", integer(reference.by), join(names, ", "),
                       offset);
  }

  std::string argument(const Argument& argument) const {
    if (std::holds_alternative<NullArgument>(argument)) {
      return "plan::Place{}";
    }
    if (const auto* reference = std::get_if<BufferReference>(&argument)) {
      return place(*reference);
    }
    if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      return cpp_name(map->map) + "()";
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

  std::string steps_text(const std::vector<Launch>& launches, std::size_t depth) {
    std::string out;
    for (const Launch& launch : launches) {
      out += step_text(launch, depth);
    }
    return out.empty() && depth == 2 ? "    (void)stream_;\n    (void)buffers_;\n" : out;
  }

  std::string step_text(const Launch& launch, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    if (!is_empty(launch.when)) {
      const bool late = is_late(launch.when.expression);
      Launch inner = launch;
      inner.when = {};
      return fmt::format("{}if {}(({}) != 0) {{\n", indent, late ? "" : "constexpr ",
                         integer(launch.when)) +
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

  /// A kernel's name that uses the loop variable makes C++ unroll the loop.
  std::string repeat_text(const Repeat& repeat, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    const std::string index =
        repeat.as.empty() ? fmt::format("index{}_", depth) : cpp_name(repeat.as);
    const bool unrolled =
        !repeat.as.empty() && names_kernels(repeat) && !is_late(repeat.times.expression);
    const Names outside = late_;
    unrolled ? void(late_.erase(repeat.as)) : void(late_.insert(repeat.as));
    const std::string head =
        unrolled ? fmt::format("{0}plan::unroll<{1}>([&](auto index_) {{\n{0}  [[maybe_unused]] "
                               "constexpr plan::Number {2} = decltype(index_)::value;\n",
                               indent, integer(repeat.times), index)
                 : fmt::format("{0}for (plan::Number {2} = 0, end{3}_ = {1}; {2} < end{3}_; "
                               "++{2}) {{\n",
                               indent, integer(repeat.times), index, depth);
    const std::string body =
        bindings_text(repeat.let, 2 * depth + 2) + steps_text(repeat.body, depth + 1);
    late_ = outside;
    return head + body + indent + (unrolled ? "});\n" : "}\n");
  }

  /// Whether a kernel's name in the loop has a placeholder that changes from turn to turn.
  static bool names_kernels(const Repeat& repeat) {
    Names inner{repeat.as};
    for (const LetBinding& binding : repeat.let) {
      inner.insert(binding.name);
    }
    return std::any_of(repeat.body.begin(), repeat.body.end(), [&](const Launch& launch) {
      if (const auto* loop = std::get_if<Repeat>(&launch.what)) {
        return names_kernels(*loop) || uses(*loop, inner);
      }
      const auto* kernel = std::get_if<KernelLaunch>(&launch.what);
      return kernel != nullptr && has_placeholder(*kernel, inner);
    });
  }
  static bool uses(const Repeat& loop, const Names& names) {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const Launch& launch) {
      const auto* kernel = std::get_if<KernelLaunch>(&launch.what);
      return kernel != nullptr && has_placeholder(*kernel, names);
    });
  }
  static bool has_placeholder(const KernelLaunch& kernel, const Names& names) {
    bool found = false;
    replace_placeholders(kernel.kernel, [&](std::string_view inside) {
      found = found || names.contains(std::string(inside));
      return std::optional<std::string>();
    });
    return found;
  }

  std::string kernel_name(const KernelLaunch& launch, SourcePosition at) const {
    constexpr std::string_view kDType = "dtype:";
    return scope_ +
           replace_placeholders(
               launch.kernel, [&](std::string_view inside) -> std::optional<std::string> {
                 if (inside.starts_with(kDType)) {
                   const auto dtype = buffer_type(std::string(trim(inside.substr(kDType.size()))));
                   return dtype ? std::optional(std::string(device_type_name(*dtype)))
                                : std::nullopt;
                 }
                 if (!is_identifier(inside)) {
                   return std::nullopt;
                 }
                 if (is_late(Expression::parse(inside))) {
                   throw UsageError(
                       fmt::format("{}:{}:{}: the name of kernel '{}' depends on '{}', which a C++ "
                                   "program knows only when it runs",
                                   file_.file, at.line, at.column, launch.kernel, inside),
                       "export the kernel without its program, or name the kernel by parameters "
                       "and sizes only");
                 }
                 return cpp_name(std::string(inside));
               });
  }

  std::string size3(const std::vector<PlanExpression>& values) const {
    return "plan::Size3" + list(values);
  }

  std::string kernel_text(const KernelLaunch& launch, SourcePosition at,
                          const std::string& indent) const {
    const std::string kernel = kernel_name(launch, at);
    const std::string shared = integer_or(launch.shared_bytes, "0");
    const bool uses_resident =
        std::any_of(launch.grid.begin(), launch.grid.end(), [](const PlanExpression& value) {
          return value.expression.column_of(kResidentBlocks) != 0;
        });
    std::string before, after;
    if (uses_resident) {
      before = fmt::format("{0}{{\n{0}const plan::Number {1} =\n"
                           "{0}    plan::resident_blocks(device_, {2}, {3}, {4});\n",
                           indent, kResidentBlocks, kernel, size3(launch.block), shared);
      after = indent + "}\n";
    }
    std::string call = fmt::format(
        "{0}plan::launch(stream_, {1}, {2}, {3},\n{0}             {4}, {5}, {6}", indent, kernel,
        size3(launch.grid), size3(launch.block), shared, size3(launch.cluster), launch.cooperative);
    for (const Argument& one : launch.arguments) {
      call += fmt::format(",\n{}             {}", indent, argument(one));
    }
    return before + call + ");\n" + after;
  }

  const KernelFile& file_;
  const Plan& plan_;
  const Task& task_;
  std::string scope_;
  std::vector<std::pair<std::string, DType>> buffers_;
  Scope sizes_;
  CppNames names_;
  Names used_;
  Names loop_names_; ///< loop variables and the let bindings of loops
  Names late_;       ///< names whose values C++ knows only when the program runs
};

} // namespace

std::string plan_cpp(const KernelFile& file, const Task& task, const std::string& name,
                     const std::string& scope) {
  return PlanWriter(file, task, scope).text(name);
}

std::string cpp_name(const std::string& name) {
  return words_of_cpp().contains(name) || name.ends_with('_') ? name + "_of_plan" : name;
}

std::string dtype_cpp(DType dtype) {
  constexpr std::array kNames{"F32", "F64", "F16", "BF16", "I8",   "U8",     "I16",    "U16",
                              "I32", "U32", "I64", "U64",  "Bool", "F8E4M3", "F8E5M2", "I4X2"};
  return fmt::format("winnow::tasks::DType::{}", kNames.at(static_cast<std::size_t>(dtype) - 1));
}

} // namespace winnow::tasks
