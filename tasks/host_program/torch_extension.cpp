#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/host_program/host_program.h"
#include "tasks/host_program/plan_cpp.h"
#include "tasks/host_program/program_text.h"
#include "tasks/inputs/input_generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

/// A string literal on one line.
std::string quoted(const std::string& text) {
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

/// A string literal as Python reads it: raw, so that code stays as it is, if Python allows that.
std::string literal(const std::string& text) {
  const std::string valid = to_valid_utf8(text);
  const bool is_plain = std::none_of(valid.begin(), valid.end(), [](char c) {
    return c >= 0 && (c < ' ' || c == '\x7f') && c != '\n' && c != '\t';
  });
  if (is_plain && valid.find("'''") == std::string::npos && valid.ends_with('\n')) {
    return "r'''\n" + valid + "'''\n";
  }
  std::string lines = "(\n";
  for (const std::string_view line : split_lines(valid)) {
    lines += "    " + quoted(std::string(line) + "\n") + "\n";
  }
  return lines + "    \"\"\n)\n";
}

std::string python_name(const std::string& name) {
  static const std::set<std::string> kTaken{
      "False",       "None",        "True",      "and",    "as",   "assert", "async",  "await",
      "break",       "class",       "continue",  "def",    "del",  "elif",   "else",   "except",
      "finally",     "for",         "from",      "global", "if",   "import", "in",     "is",
      "lambda",      "nonlocal",    "not",       "or",     "pass", "raise",  "return", "try",
      "while",       "with",        "yield",     "torch",  "main", "Tensor", "print",  "functools",
      "load_inline", "collections", "statistics"};
  std::string valid = name;
  std::replace_if(
      valid.begin(), valid.end(), [](char c) { return !is_identifier(std::string("_") + c); }, '_');
  return kTaken.contains(valid) || !is_identifier(valid) ? valid + "_" : valid;
}

const char* torch_dtype(DType dtype) {
  constexpr std::array kNames{
      "float32", "float64", "float16", "bfloat16", "int8", "uint8",         "int16",       "uint16",
      "int32",   "uint32",  "int64",   "uint64",   "bool", "float8_e4m3fn", "float8_e5m2", "uint8"};
  return kNames.at(static_cast<std::size_t>(dtype) - 1);
}

const char* role_text(Role role) {
  return role == Role::Input ? "input" : role == Role::Output ? "output" : "inout";
}

std::string real_python(double value) {
  return std::isfinite(value) ? real_literal(value) : fmt::format("float(\"{}\")", value);
}

/// "(a, b)", "(a,)", "()"
std::string tuple_text(const std::vector<std::string>& values) {
  return "(" + join(values, ", ") + (values.size() == 1 ? ",)" : ")");
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
    std::vector<std::string> shape;
    for (const Expression& size : tensor.shape) {
      shape.push_back(quoted(size.text()));
    }
    text += fmt::format("    Tensor({}, \"{}\", \"{}\", {}, {}),\n", quoted(tensor.name),
                        role_text(tensor.role), torch_dtype(tensor.dtype), tuple_text(shape),
                        tensor.is_static ? "True" : "False");
  }
  return text + "]\n";
}

std::string shapes_data(const HostProgram& program) {
  const Task& task = program.task;
  std::string text = "SHAPES = [\n";
  for (const Shape& shape : program.shapes) {
    std::vector<std::string> axes, scalars;
    for (const Axis& axis : task.axes) {
      axes.push_back(fmt::format("{}: {}", quoted(axis.name), shape.axes.at(axis.name)));
    }
    for (const ScalarSpec& scalar : task.scalars) {
      const double value = shape.scalars.at(scalar.name);
      scalars.push_back(is_floating(scalar.dtype) ? real_python(value)
                                                  : fmt::format("{:.0f}", value));
    }
    text += fmt::format("    ({}, {{{}}}, {}),\n",
                        quoted(fmt::format("{} ({})", shape.id, to_string(shape))),
                        join(axes, ", "), tuple_text(scalars));
  }
  return text + "]\n";
}

/// The numbers and names that the functions of extension.py use.
std::string data_text(const HostProgram& program) {
  const Task& task = program.task;
  const Plan& plan = program.file.plan;
  std::vector<std::string> axes, given, scalars, stays, options;
  for (const Axis& axis : task.axes) {
    axes.push_back(quoted(axis.name));
  }
  for (const std::string& axis : given_axes(task)) {
    given.push_back(quoted(axis));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    scalars.push_back(
        fmt::format("{}: {}", quoted(scalar.name), is_floating(scalar.dtype) ? "float" : "int"));
  }
  bool prepares = !plan.prepare.empty();
  for (const ScratchBuffer& scratch : plan.scratch) {
    const bool stay = scratch.keep || scratch.once;
    stays.emplace_back(stay ? "True" : "False");
    prepares = prepares || stay;
  }
  for (const std::string& option : compiler_options(program)) {
    options.push_back(quoted(option));
  }
  return fmt::format("NAME = \"winnow_{}_{:016x}\"\nNVCC_FLAGS = [{}]\nAXES = {}\n"
                     "GIVEN_AXES = {}  # the others are sizes of tensors\nSCALARS = {{{}}}\n",
                     python_name(task.name), hash_name(program.file.text), join(options, ", "),
                     tuple_text(axes), tuple_text(given), join(scalars, ", ")) +
         tensors_data(task) +
         fmt::format("SCRATCH_STAYS = {}  # from call to call\nPREPARES = {}\n", tuple_text(stays),
                     prepares ? "True" : "False") +
         shapes_data(program);
}

/// The function that a user calls.
std::string function_text(const Task& task) {
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
    axes.push_back(fmt::format("{}: {}", quoted(axis), python_name(axis)));
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
                            tuple_text(tensors), tuple_text(scalars), join(axes, ", "));
}

/// tensors_at(), shapes_at() and sizes_of(), for tasks/host_program/module.cuh.
std::string glue_text(const Task& task) {
  const CppNames names{
      [](const std::string& name) { return "sizes_." + cpp_name(name); },
      [](const std::string& name) -> std::int64_t { throw Error("sizeof(" + name + ")"); }};
  std::string tensors, shapes;
  for (const TensorSpec& tensor : task.tensors) {
    std::vector<std::string> sizes;
    std::string count;
    for (const Expression& size : tensor.shape) {
      sizes.push_back(integer_cpp(size, names));
      count += fmt::format("{}plan::Number{{{}}}", count.empty() ? "" : " * ", sizes.back());
    }
    shapes += fmt::format("      {{{}}},\n", join(sizes, ", "));
    tensors += fmt::format("      {{\"{}\", {}, {}, {}}},\n", tensor.name, dtype_cpp(tensor.dtype),
                           size_bytes(tensor.dtype), count.empty() ? "1" : count);
  }
  std::vector<std::string> values;
  std::size_t integers = 0, reals = 0;
  for (std::size_t i = 0; i < task.axes.size(); ++i) {
    values.push_back(fmt::format("integers_.at({})", integers++));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    values.push_back(is_floating(scalar.dtype) ? fmt::format("reals_.at({})", reals++)
                                               : fmt::format("integers_.at({})", integers++));
  }
  return fmt::format(
      "\n// ---- the tensors\n"
      "std::vector<plan::Buffer> tensors_at(const plan::Sizes& sizes_) {{\n  return {{\n{}  "
      "}};\n}}\n"
      "std::vector<std::vector<std::int64_t>> shapes_at(const plan::Sizes& sizes_) {{\n"
      "  return {{\n{}  }};\n}}\n"
      "plan::Sizes sizes_of(const std::vector<std::int64_t>& integers_,\n"
      "                     const std::vector<double>& reals_) {{\n  return {{{}}};\n}}\n\n",
      tensors, shapes, join(values, ", "));
}

std::string header_text(const HostProgram& program) {
  return fmt::format("# {}\n# Task: {} ({}).\n", one_line(program.title),
                     one_line(program.task.name), one_line(program.task.title));
}

} // namespace

std::string torch_extension(const HostProgram& program) {
  const Task& task = program.task;
  const std::string support = includes_text() +
                              support_text({"inputs/dtype_core.h", "host_program/plan.cuh"}) +
                              sizes_cpp(task);
  const std::string kernel = kernel_text(program, 0, "extension.cu") + glue_text(task) +
                             support_text({"host_program/module.cuh"});
  const std::string check = support_text({"inputs/generator_core.h", "host_program/check.cuh"}) +
                            reference_text(program) + shapes_text(program) +
                            support_text({"host_program/module_check.cuh"});
  std::string data = data_text(program) + function_text(task);
  data +=
      "SUPPORT = " + literal(support) + "\nKERNEL = " + literal(kernel) +
      "\n# The task's reference, and the inputs and limits at SHAPES.\nCHECK = " + literal(check) +
      "\nREFERENCE = " + literal(task.reference_python);
  std::string text = support_text({"host_program/extension.py.in"});
  constexpr std::string_view kPlace = "@@DATA@@\n";
  text.replace(text.find(kPlace), kPlace.size(), data);
  return header_text(program) + std::string(trim(text)) + "\n";
}

} // namespace winnow::tasks
