#include "agents/prompts/folded_names.h"
#include "agents/prompts/prompt_sections.h"
#include "base/text.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/generator_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using tasks::Precision;

std::string shape_text(const tasks::TensorSpec& tensor) {
  auto shape = each<std::string>(
      tensor.shape, [&](const tasks::Expression& dimension) { return dimension.text(); });
  return "[" + join(shape, ", ") + "]";
}

std::string tensor_line(const tasks::TensorSpec& tensor) {
  const bool read_only = tensor.role == tasks::Role::Input;
  std::string line =
      fmt::format("- `{}`: {}, {} (`{}{}*`), shape {}", tensor.name, to_string(tensor.role),
                  to_string(tensor.dtype), read_only ? "const " : "",
                  tasks::device_type_name(tensor.dtype), shape_text(tensor));
  if (tensor.role != tasks::Role::Output) {
    line += fmt::format(", values {}", distribution_text(tensor));
  }
  if (!tensor.state.empty()) {
    line += fmt::format(", `{}` of the module", tensor.state);
  }
  return line + (tensor.description.empty() ? "" : ": " + tensor.description) + "\n";
}

/// Whether the tensor's name follows from the name of its parameter or buffer.
bool is_foldable(const tasks::TensorSpec& tensor) {
  std::string name = tensor.state;
  std::replace(name.begin(), name.end(), '.', '_');
  return tensor.is_static && !tensor.state.empty() && tensor.name == name &&
         tensor.description.empty();
}

/// The parameters and buffers of a deep module, with one line for all of a kind.
std::string folded_lines(const tasks::Task& task) {
  std::vector<std::pair<std::string, std::vector<NameOfKind>>> groups;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (!is_foldable(tensor)) {
      continue;
    }
    const std::string group =
        fmt::format("{} (`const {}*`), values {}", to_string(tensor.dtype),
                    tasks::device_type_name(tensor.dtype), distribution_text(tensor));
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == group; });
    if (found == groups.end()) {
      found = groups.insert(groups.end(), {group, {}});
    }
    found->second.push_back({tensor.name, shape_text(tensor)});
  }
  std::string lines = "\nInputs, too: the parameters and buffers of the module, each with `_` for "
                      "every `.` of its name. A name with braces stands for all names that any "
                      "choices from its braces make, and `{0..2}` is a choice of 0, 1 and 2: "
                      "`bn{1,2}_{weight,bias}` is `bn1_weight`, `bn1_bias`, `bn2_weight` and "
                      "`bn2_bias`.\n";
  for (const auto& [group, names] : groups) {
    lines += group + ":\n";
    for (const NameOfKind& pattern : folded(names)) {
      lines += fmt::format("- `{}` {}\n", pattern.name, pattern.kind);
    }
  }
  return lines;
}

/// How to read the floats whose types are codes.
std::string code_lines(const tasks::Task& task, std::string_view device) {
  std::string lines;
  for (const std::string_view sentences : tasks::code_sentences(task)) {
    lines += fmt::format("{}\n", sentences);
  }
  if (!lines.empty() && device == "cuda") {
    lines +=
        "From CUDA 12.8 on `cuda_fp4.h` (`__nv_fp4x2_e2m1`) and `cuda_fp8.h` "
        "(`__nv_fp8_e8m0`) convert them, too: in software, except for targets such as sm_100a.\n";
  }
  return lines;
}

std::string tensor_lines(const tasks::Task& task, std::string_view device) {
  const bool folds = folds_parameters(task);
  std::string lines;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    lines += folds && is_foldable(tensor) ? "" : tensor_line(tensor);
  }
  lines += code_lines(task, device);
  return folds ? lines + folded_lines(task) : lines;
}

/// An expression, or its values at the search shapes if it is too long to be read.
std::string amount_text(const tasks::Expression& amount, const tasks::Task& task,
                        std::string_view device) {
  constexpr std::size_t kMostBytes = 400;
  if (amount.text().size() <= kMostBytes) {
    return amount.text();
  }
  std::vector<std::string> values;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device)) {
    tasks::Scope scope;
    tasks::bind_shape(task, shape, scope);
    values.push_back(fmt::format("{:.4g}", amount.evaluate_float(scope)));
  }
  return join(values, ", ") + (values.size() > 1 ? " at the shapes below" : " at the shape below");
}

std::string axis_lines(const tasks::Task& task) {
  std::string lines;
  for (const tasks::Axis& axis : task.axes) {
    lines += fmt::format("- `{}`{}\n", axis.name,
                         axis.description.empty() ? "" : ": " + axis.description);
  }
  return lines;
}

std::string scalar_lines(const tasks::Task& task) {
  std::string lines;
  for (const tasks::ScalarSpec& scalar : task.scalars) {
    lines +=
        fmt::format("- `{}`: {}, anywhere from {} to {}{}\n", scalar.name, to_string(scalar.dtype),
                    tasks::scalar_text(scalar.low), tasks::scalar_text(scalar.high),
                    scalar.description.empty() ? "" : ": " + scalar.description);
  }
  return lines.empty() ? "- none\n" : lines;
}

std::string shape_lines(const tasks::Task& task, std::string_view device) {
  std::string lines;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device)) {
    lines += fmt::format("- {}\n", to_string(shape));
  }
  return lines;
}

/// "0.00143" for a number, "(8 + sqrt(k)) * 1.19e-07" for an expression.
std::string times_unit(const tasks::Expression& multiple, double unit) {
  double number = 0;
  const std::string& text = multiple.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size()
             ? fmt::format("{:.3g}", number * unit)
             : fmt::format("({}) * {:.3g}", text, unit);
}

std::string tolerance_text(const tasks::Tolerance& tolerance) {
  if (tolerance.precision == tasks::Precision::Int) {
    return "none: integers are exact";
  }
  const double unit = tasks::epsilon(tolerance.accumulate);
  std::string text = fmt::format(
      "an element may differ from the exact result by {} * (the magnitude of what was added up for "
      "it), besides the rounding of the output itself",
      times_unit(tolerance.multiple, unit));
  if (tolerance.absolute > 0) {
    text += fmt::format(" and {:.3g}", tolerance.absolute);
  }
  text += fmt::format("; the rms over all elements by {} of these magnitudes. That takes {} "
                      "arithmetic; what is coarser is `low_precision`",
                      times_unit(tolerance.norm_multiple, unit), to_string(tolerance.accumulate));
  const std::string allowed = tasks::allowed_text(tolerance);
  return allowed.empty() ? text : text + ". Only this may be coarser: " + allowed;
}

std::string sums_text(const tasks::Tolerance& tolerance) {
  const std::string_view name = to_string(tolerance.precision);
  const bool is_narrow = tolerance.precision != Precision::F32 &&
                         tolerance.precision != Precision::F64 &&
                         tolerance.precision != Precision::TF32;
  if (tolerance.precision == Precision::F64) {
    return "f64 arithmetic in any sensible order passes; f32 arithmetic does not.";
  }
  if (tolerance.precision == Precision::F32) {
    return "f32 arithmetic in any sensible order passes, fused multiply-adds too. Factors rounded "
           "to "
           "TF32, f16 or bf16 do not; factors that are split into several such parts may.";
  }
  if (tolerance.precision == Precision::TF32) {
    return "TF32 tensor cores with f32 accumulators pass. Factors rounded to bf16 do not.";
  }
  if (is_narrow && tolerance.accumulate == Precision::F32) {
    const bool rounds_sums = tolerance.allows.contains("partial_sum");
    return fmt::format("tensor cores on {} factors with f32 accumulators pass.{}", name,
                       rounds_sums ? "" : " Accumulators in f16 or bf16 do not.");
  }
  return fmt::format("factors in {} with sums in f32 pass. Sums in {} do not.", name,
                     tolerance.precision == Precision::BF16 ? "bf16" : "8 bits or bf16");
}

/// What the tolerance means for a kernel.
std::string precision_text(const tasks::Tolerance& tolerance) {
  if (tolerance.precision == Precision::Int) {
    return "";
  }
  std::string text = "In words: " + sums_text(tolerance);
  text += tolerance.reproducible
              ? " The same input must give the same bits in every run: sums by floating atomics in "
                "a varying order are `unstable`."
              : " Sums by floating atomics, in an order that varies from run to run, are allowed.";
  return text + (tolerance.nan_allowed ? " NaN is right where the reference has NaN." : "");
}

/// The smallest p with value < 2^p.
int size_class(std::int64_t value) {
  int power = 0;
  while (power < 62 && value >> power != 0) {
    ++power;
  }
  return power;
}

/// Sizes over all shapes of the device, in words that reveal no hidden size.
struct Sizes {
  std::map<std::string, std::int64_t> axes; ///< the largest value of each
  std::int64_t elements = 0;                ///< of the largest tensor
  std::int64_t smallest_axis = 1;
};

Sizes sizes_of(const tasks::Task& task, std::string_view device) {
  Sizes sizes;
  using enum tasks::ShapeSet;
  for (const tasks::ShapeSet set : {Tiny, Search, Promotion, HeldOut}) {
    for (const tasks::Shape& shape : task.shapes_of(set, device)) {
      for (const auto& [name, value] : shape.axes) {
        sizes.axes[name] = std::max(sizes.axes[name], value);
        sizes.smallest_axis = std::min(sizes.smallest_axis, value);
      }
      for (const tasks::TensorSpec& tensor : task.tensors) {
        sizes.elements = std::max(sizes.elements, tasks::element_count(tensor, shape));
      }
    }
  }
  return sizes;
}

double elements_of(const tasks::Task& task, const tasks::Shape& shape) {
  double elements = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    elements += static_cast<double>(tasks::element_count(tensor, shape));
  }
  return elements;
}

/// The hidden shapes that are about as large as search shapes: at others only the answers count.
std::vector<tasks::Shape> timed_hidden_shapes(const tasks::Task& task, std::string_view device) {
  constexpr double kAboutAsLarge = 0.5;
  double least = std::numeric_limits<double>::infinity();
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device)) {
    least = std::min(least, kAboutAsLarge * elements_of(task, shape));
  }
  std::vector<tasks::Shape> timed;
  for (const auto set : {tasks::ShapeSet::Promotion, tasks::ShapeSet::HeldOut}) {
    for (tasks::Shape& shape : task.shapes_of(set, device)) {
      if (elements_of(task, shape) >= least) {
        timed.push_back(std::move(shape));
      }
    }
  }
  return timed;
}

/// " Hidden sizes that are timed: all multiples of 16: `d`; not all multiples of 8: `m`, `n`."
std::string multiples_text(const tasks::Task& task, std::string_view device) {
  const std::vector<tasks::Shape> timed = timed_hidden_shapes(task, device);
  std::vector<std::string> of_16, of_8, neither, groups;
  for (const tasks::Axis& axis : task.axes) {
    const auto all = [&](std::int64_t divisor) {
      return std::all_of(timed.begin(), timed.end(), [&](const tasks::Shape& shape) {
        return shape.axes.at(axis.name) % divisor == 0;
      });
    };
    (all(16) ? of_16 : all(8) ? of_8 : neither).push_back("`" + axis.name + "`");
  }
  for (const auto& [what, names] : {std::pair("all multiples of 16: ", of_16),
                                    {"all multiples of 8: ", of_8},
                                    {"not all multiples of 8: ", neither}}) {
    if (!names.empty()) {
      groups.push_back(what + join(names, ", "));
    }
  }
  return timed.empty() ? "" : " Hidden sizes that are timed: " + join(groups, "; ") + ".";
}

std::string sizes_text(const tasks::Task& task, std::string_view device) {
  Sizes sizes = sizes_of(task, device);
  std::vector<std::string> classes;
  for (const tasks::Axis& axis : task.axes) {
    classes.push_back(fmt::format("`{}` < 2^{}", axis.name, size_class(sizes.axes[axis.name])));
  }
  std::string text =
      fmt::format("Sizes over all shapes, hidden ones included: {}{}; a tensor has fewer than 2^{} "
                  "elements. ",
                  sizes.smallest_axis >= 1 ? "every axis is at least 1; " : "", join(classes, ", "),
                  size_class(sizes.elements));
  text += (sizes.elements > std::numeric_limits<std::int32_t>::max()
               ? "An `int` does not hold every index: use 64-bit indices."
               : "So an `int` holds any index.");
  return text + multiples_text(task, device);
}

std::string reference_text(const tasks::Task& task) {
  return !task.torch            ? "The operation as a PyTorch module"
         : task.torch->training ? "The operation is this PyTorch module in training mode (batches "
                                  "normalise themselves), computed in float64"
                                : "The operation is this PyTorch module in evaluation mode, "
                                  "computed in float64";
}

} // namespace

bool folds_parameters(const tasks::Task& task) {
  constexpr std::ptrdiff_t kFewest = 16;
  return std::count_if(task.tensors.begin(), task.tensors.end(), is_foldable) >= kFewest;
}

MaybeValues render_task(const ProposalContext& context) {
  if (context.task == nullptr) {
    return std::nullopt;
  }
  const tasks::Task& task = *context.task;
  return Values{{"title", task.title},
                {"name", task.name},
                {"description", std::string(trim(task.description))},
                {"axes", axis_lines(task)},
                {"tensors", tensor_lines(task, context.device)},
                {"scalars", scalar_lines(task)},
                {"tolerance", tolerance_text(task.tolerance)},
                {"precision", precision_text(task.tolerance)},
                {"operations", amount_text(task.operations, task, context.device)},
                {"bytes", amount_text(task.bytes, task, context.device)},
                {"shapes", shape_lines(task, context.device)},
                {"sizes", sizes_text(task, context.device)}};
}

MaybeValues render_module(const ProposalContext& context) {
  const tasks::Task* task = context.task;
  const bool is_of_a_role = contains(role_operator_names(), context.op);
  if (task == nullptr || (!task->torch && !is_of_a_role && builds_on_a_kernel(context))) {
    return std::nullopt;
  }
  return Values{{"reference", reference_text(*task)},
                {"reference_python", std::string(trim(task->reference_python))}};
}

} // namespace winnow::agents
