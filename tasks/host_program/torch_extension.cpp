#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/host_program/extension_data.h"
#include "tasks/host_program/host_program.h"
#include "tasks/host_program/plan_cpp.h"
#include "tasks/host_program/program_text.h"

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr const char* kExtensionExplanation =
    R"("""A kernel as a PyTorch extension: PyTorch and nvcc build it at its first call.

    python3 extension.py

checks the kernel against PyTorch at the shapes for which it was written, and times it.
The kernel has no gradient. Its code is in KERNEL: the kernel, and the launch plan as host code.
"""

)";

/// The check against reference.cu and against PyTorch.
std::string kernel_check_text(const HostProgram& program) {
  const std::string check = support_text({"inputs/generator_core.h", "host_program/check.cuh"}) +
                            reference_text(program) + shapes_text(program) +
                            support_text({"host_program/module_draw.cuh"}) +
                            support_text({"host_program/module_check.cuh"});
  return support_text({"host_program/check_kernel.py.in"}) +
         "\n# The task's reference, and the inputs and limits at SHAPES.\nCHECK = " +
         python_literal(check) + "\nREFERENCE = " + python_literal(program.task.reference_python);
}

/// The check against the module that is the task's reference.
std::string module_check_text(const HostProgram& program) {
  const std::string check = support_text({"inputs/generator_core.h", "host_program/check.cuh"}) +
                            shapes_text(program) + support_text({"host_program/module_draw.cuh"});
  return support_text({"host_program/check_module.py.in"}) + "\n" + module_check_data(program) +
         "# The inputs at SHAPES.\nCHECK = " + python_literal(check) +
         "\nREFERENCE = " + python_literal(program.task.reference_python) +
         "\n# Sets the sizes in a module's file.\nKNOBS = " +
         python_literal(support_text({"../evaluators/torch/knobs.py"}));
}

} // namespace

std::string tensors_text(const Task& task) {
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

std::string extension_call(const HostProgram& program, std::string data) {
  const std::string support = includes_text() +
                              support_text({"inputs/dtype_core.h", "host_program/plan.cuh"}) +
                              sizes_cpp(program.task);
  const std::string kernel = kernel_text(program, 0, "extension.cu") + tensors_text(program.task) +
                             support_text({"host_program/module.cuh"});
  data += "SUPPORT = " + python_literal(support) + "\nKERNEL = " + python_literal(kernel);
  std::string text = support_text({"host_program/call.py.in"});
  constexpr std::string_view kPlace = "@@DATA@@\n";
  return text.replace(text.find(kPlace), kPlace.size(), extension_data(program) + data);
}

std::string torch_extension(const HostProgram& program) {
  for (const TensorSpec& tensor : program.task.tensors) {
    if (is_computed(tensor)) {
      throw UsageError(
          fmt::format("the module computes the input '{}', and extension.py has no way "
                      "to draw it for its check",
                      tensor.name),
          "use `winnow export kernelbench`, or `winnow export solution` for a task of "
          "a definition");
    }
  }
  if (program.task.torch &&
      program.task.reference_python.find("class Model") == std::string::npos) {
    throw UsageError(fmt::format("reference.py of task {} has no class Model", program.task.name),
                     "for the task of a definition use `winnow export solution`");
  }
  const std::string check =
      program.task.torch ? module_check_text(program) : kernel_check_text(program);
  const std::string text = kExtensionExplanation +
                           extension_call(program, extension_function(program.task)) + "\n" +
                           check + support_text({"host_program/check_shapes.py.in"});
  return head_text(program, "# ") + std::string(trim(text)) + "\n";
}

} // namespace winnow::tasks
