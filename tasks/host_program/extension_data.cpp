#include "tasks/host_program/extension_data.h"

#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/host_program/program_text.h"
#include "tasks/inputs/input_generator.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

std::string real_python(double value) {
  return std::isfinite(value) ? real_literal(value) : fmt::format("float(\"{}\")", value);
}

/// The axes that no size of a given tensor states.
std::vector<std::string> given_axes(const Task& task) {
  std::vector<std::string> names;
  for (const Axis& axis : task.axes) {
    const bool is_stated =
        std::any_of(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
          return tensor.role != Role::Output &&
                 std::any_of(tensor.shape.begin(), tensor.shape.end(),
                             [&](const Expression& size) { return size.text() == axis.name; });
        });
    if (!is_stated) {
      names.push_back(axis.name);
    }
  }
  return names;
}

std::string tensors_data(const Task& task) {
  std::string text = "TENSORS = [\n";
  for (const TensorSpec& tensor : task.tensors) {
    auto shape = each<std::string>(
        tensor.shape, [&](const Expression& size) { return python_quoted(size.text()); });
    text +=
        fmt::format("    TensorSpec({}, \"{}\", \"{}\", {}, {}{}),\n", python_quoted(tensor.name),
                    to_string(tensor.role), row_of(tensor.dtype).torch, python_tuple(shape),
                    tensor.is_static ? "True" : "False",
                    tensor.state.empty() ? "" : ", " + python_quoted(tensor.state));
  }
  return text + "]\n";
}

std::string shapes_data(const HostProgram& program) {
  const Task& task = program.task;
  std::string text = "SHAPES = [\n";
  for (const Shape& shape : program.shapes) {
    std::vector<std::string> axes, scalars;
    for (const Axis& axis : task.axes) {
      axes.push_back(fmt::format("{}: {}", python_quoted(axis.name), shape.axes.at(axis.name)));
    }
    for (const ScalarSpec& scalar : task.scalars) {
      const double value = shape.scalars.at(scalar.name);
      scalars.push_back(is_floating(scalar.dtype) ? real_python(value)
                                                  : fmt::format("{:.0f}", value));
    }
    text += fmt::format("    ({}, {{{}}}, {}),\n",
                        python_quoted(fmt::format("{} ({})", shape.id, to_string(shape))),
                        join(axes, ", "), python_tuple(scalars));
  }
  return text + "]\n";
}

} // namespace

std::string extension_data(const HostProgram& program) {
  const Task& task = program.task;
  const Plan& plan = program.file.plan;
  std::vector<std::string> axes, given, scalars, stays, options;
  for (const Axis& axis : task.axes) {
    axes.push_back(python_quoted(axis.name));
  }
  for (const std::string& axis : given_axes(task)) {
    given.push_back(python_quoted(axis));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    scalars.push_back(fmt::format("{}: {}", python_quoted(scalar.name),
                                  is_floating(scalar.dtype) ? "float" : "int"));
  }
  bool prepares = !plan.prepare.empty();
  for (const ScratchBuffer& scratch : plan.scratch) {
    const bool stay = scratch.keep || scratch.once;
    stays.emplace_back(stay ? "True" : "False");
    prepares = prepares || stay;
  }
  for (const std::string& option : compiler_options(program)) {
    options.push_back(python_quoted(option));
  }
  return fmt::format("NAME = \"winnow_{}_{:016x}\"\nNVCC_FLAGS = [{}]\nAXES = {}\n"
                     "GIVEN_AXES = {}  # the others are sizes of tensors\nSCALARS = {{{}}}\n",
                     python_name(task.name), hash_name(program.file.text), join(options, ", "),
                     python_tuple(axes), python_tuple(given), join(scalars, ", ")) +
         tensors_data(task) +
         fmt::format("SCRATCH_STAYS = {}  # from call to call\nPREPARES = {}\n",
                     python_tuple(stays), prepares ? "True" : "False") +
         shapes_data(program);
}

std::string extension_function(const Task& task) {
  std::vector<std::string> tensors, scalars, axes, parameters, results;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role != Role::Output) {
      tensors.push_back(python_name(tensor.name));
    }
    if (tensor.role != Role::Input) {
      results.push_back(tensor.name);
    }
  }
  for (const ScalarSpec& scalar : task.scalars) {
    scalars.push_back(python_name(scalar.name));
  }
  parameters = tensors;
  parameters.insert(parameters.end(), scalars.begin(), scalars.end());
  for (const std::string& axis : given_axes(task)) {
    axes.push_back(fmt::format("{}: {}", python_quoted(axis), python_name(axis)));
    parameters.push_back(python_name(axis));
  }
  std::string text =
      fmt::format("\n\ndef {}({}):\n    \"\"\"Returns {}.\n\n", python_name(task.name),
                  join(parameters, ", "), join(results, ", "));
  for (const std::string_view line : split_lines(task.description)) {
    std::string plain = one_line(std::string(trim(line)));
    std::replace(plain.begin(), plain.end(), '"', '\'');
    text += plain.empty() ? "\n" : "    " + plain + "\n";
  }
  return text + fmt::format("    \"\"\"\n    return _call({}, {}, {{{}}})\n\n\n",
                            python_tuple(tensors), python_tuple(scalars), join(axes, ", "));
}

std::string module_check_data(const HostProgram& program) {
  const Task& task = program.task;
  std::vector<std::string> multiples;
  for (const Shape& shape : program.shapes) {
    Scope scope;
    bind_shape(task, shape, scope);
    multiples.push_back(real_python(task.tolerance.norm_multiple.evaluate_float(scope)));
  }
  const bool is_int = task.tolerance.accumulate == Precision::Int;
  return fmt::format("TRAINING = {}\nNORM_MULTIPLES = {}\nEPSILON = {}  # of sums\n",
                     task.torch && task.torch->training ? "True" : "False", python_tuple(multiples),
                     is_int ? "0.0" : real_python(epsilon(task.tolerance.accumulate)));
}

std::string python_quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      literal += std::string("\\") + c;
    } else if (c >= 0 && (c < ' ' || c == '\x7f')) {
      literal += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

std::string python_literal(const std::string& text) {
  const std::string valid = to_valid_utf8(text);
  const bool is_plain = std::none_of(valid.begin(), valid.end(), [](char c) {
    return c >= 0 && (c < ' ' || c == '\x7f') && c != '\n' && c != '\t';
  });
  if (is_plain && valid.find("'''") == std::string::npos && valid.ends_with('\n')) {
    return "r'''\n" + valid + "'''\n";
  }
  std::string lines = "(\n";
  for (const std::string_view line : split_lines(valid)) {
    lines += "    " + python_quoted(std::string(line) + "\n") + "\n";
  }
  return lines + "    \"\"\n)\n";
}

std::string python_name(const std::string& name) {
  static const std::set<std::string> kTaken{
      "False",     "None",        "True",        "and",       "as",   "assert",  "async",  "await",
      "break",     "class",       "continue",    "def",       "del",  "elif",    "else",   "except",
      "finally",   "for",         "from",        "global",    "if",   "import",  "in",     "is",
      "lambda",    "nonlocal",    "not",         "or",        "pass", "raise",   "return", "try",
      "while",     "with",        "yield",       "torch",     "main", "inspect", "copy",   "print",
      "functools", "load_inline", "collections", "statistics"};
  std::string valid = name;
  std::replace_if(
      valid.begin(), valid.end(), [](char c) { return !is_identifier(std::string("_") + c); }, '_');
  if (!is_identifier(valid) && is_identifier("_" + valid)) {
    return "task_" + valid; // a name that begins with a digit, or an empty one
  }
  return kTaken.contains(valid) ? valid + "_" : valid;
}

std::string python_tuple(const std::vector<std::string>& values) {
  return "(" + join(values, ", ") + (values.size() == 1 ? ",)" : ")");
}

} // namespace winnow::tasks
