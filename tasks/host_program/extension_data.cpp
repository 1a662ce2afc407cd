#include "tasks/host_program/extension_data.h"

#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/host_program/program_text.h"
#include "tasks/host_program/python_text.h"
#include "tasks/inputs/input_generator.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

const char* role_text(Role role) {
  return role == Role::Input ? "input" : role == Role::Output ? "output" : "inout";
}

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
    std::vector<std::string> shape;
    for (const Expression& size : tensor.shape) {
      shape.push_back(python_quoted(size.text()));
    }
    text +=
        fmt::format("    TensorSpec({}, \"{}\", \"{}\", {}, {}{}),\n", python_quoted(tensor.name),
                    role_text(tensor.role), row_of(tensor.dtype).torch, python_tuple(shape),
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

} // namespace winnow::tasks
