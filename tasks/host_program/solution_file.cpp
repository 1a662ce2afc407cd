#include "tasks/host_program/solution_file.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/extension_data.h"
#include "tasks/host_program/plan_cpp.h"
#include "tasks/host_program/program_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

using nlohmann::ordered_json; // the order of inputs counts

// PyTorch turns off operators and conversions of half types, which kernels use.
constexpr const char* kHead = R"(#undef __CUDA_NO_HALF_OPERATORS__
#undef __CUDA_NO_HALF_CONVERSIONS__
#undef __CUDA_NO_HALF2_OPERATORS__
#undef __CUDA_NO_BFLOAT16_CONVERSIONS__
#include <torch/extension.h>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

)";

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(what, "this command is for tasks of `winnow tasks import definition`; `winnow "
                         "export kernel` writes a PyTorch extension for any task");
}

ordered_json parsed_definition(const HostProgram& program, const std::string& text) {
  ordered_json definition = ordered_json::parse(text, nullptr, false);
  if (!definition.is_object() || !definition.contains("inputs") ||
      !definition.contains("outputs")) {
    refuse(
        fmt::format("task {} has no definition.json with inputs and outputs", program.task.name));
  }
  return definition;
}

std::string parameter(const std::string& name) {
  return cpp_name(name) + "_given"; // no name of the plan or the kernel
}

/// The size of an axis, from the first tensor that states it; a size that never varies by itself.
std::string axis_text(const HostProgram& program, const Axis& axis) {
  for (const TensorSpec& tensor : program.task.tensors) {
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      if (tensor.shape[i].text() == axis.name) {
        return fmt::format("{}.size({})", parameter(tensor.name), i);
      }
    }
  }
  const std::int64_t value = program.shapes.front().axes.at(axis.name);
  const auto& shapes = program.task.shapes;
  if (std::any_of(shapes.begin(), shapes.end(),
                  [&](const Shape& shape) { return shape.axes.at(axis.name) != value; })) {
    throw UsageError(
        fmt::format("the axis {} varies, and it is no size of a tensor by itself", axis.name),
        "a solution gets tensors and numbers only: write the kernel without this axis in the task");
  }
  return std::to_string(value);
}

std::string run_text(const HostProgram& program, const ordered_json& definition) {
  const Task& task = program.task;
  std::vector<std::string> parameters, names, tensors, integers, reals;
  const auto add = [&](const std::string& name) {
    const TensorSpec* tensor = task.find_tensor(name);
    const ScalarSpec* scalar = find_named(task.scalars, name);
    if (tensor == nullptr && scalar == nullptr) {
      refuse(fmt::format("the task has nothing for the definition's '{}'", name));
    }
    parameters.push_back((tensor != nullptr            ? "torch::Tensor "
                          : is_floating(scalar->dtype) ? "double "
                                                       : "std::int64_t ") +
                         parameter(name));
    names.push_back(fmt::format("pybind11::arg(\"{}\")", name));
  };
  for (const char* part : {"inputs", "outputs"}) {
    for (const auto& [name, value] : definition.at(part).items()) {
      add(name);
    }
  }
  for (const TensorSpec& tensor : task.tensors) {
    tensors.push_back(parameter(tensor.name));
  }
  for (const Axis& axis : task.axes) {
    integers.push_back(axis_text(program, axis));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    (is_floating(scalar.dtype) ? reals : integers).push_back(parameter(scalar.name));
  }
  return fmt::format("void exported_run_on_tensors({}) {{\n"
                     "  plan::run_on(sizes_of({{{}}}, {{{}}}),\n               {{{}}});\n}}\n\n"
                     "PYBIND11_MODULE(TORCH_EXTENSION_NAME, module_) {{\n"
                     "  module_.def(\"run\", &exported_run_on_tensors, {});\n}}\n",
                     join(parameters, ", "), join(integers, ", "), join(reals, ", "),
                     join(tensors, ", "), join(names, ", "));
}

std::string source(const HostProgram& program, const ordered_json& definition) {
  return head_text(program, "// ") + kHead + includes_text() +
         support_text({"inputs/dtype_core.h", "host_program/plan.cuh"}) + sizes_cpp(program.task) +
         kernel_text(program, 0, "kernel.cu") + tensors_text(program.task) +
         support_text({"host_program/solution.cuh"}) + run_text(program, definition);
}

ordered_json spec(const HostProgram& program, SolutionFor benchmark) {
  ordered_json spec;
  if (benchmark == SolutionFor::FlashInfer) {
    spec["language"] = "cuda";
    spec["target_hardware"] = {"cuda"};
  } else {
    spec["languages"] = {"cuda_cpp"};
    spec["target_hardware"] = {"LOCAL"};
  }
  spec["entry_point"] = "kernel.cu::run";
  spec["dependencies"] = ordered_json::array();
  spec["destination_passing_style"] = true;
  spec["binding"] = "torch";
  if (benchmark == SolutionFor::SolExecBench) {
    spec["compile_options"] = {{"cuda_cflags", compiler_options(program)}};
  }
  return spec;
}

} // namespace

std::string solution_file(const HostProgram& program, const SolutionTexts& texts,
                          SolutionFor benchmark) {
  const ordered_json definition = parsed_definition(program, texts.definition);
  ordered_json solution;
  solution["name"] = texts.name;
  solution["definition"] = definition.value("name", program.task.name);
  solution["author"] = texts.author;
  solution["description"] = one_line(program.title);
  solution["spec"] = spec(program, benchmark);
  solution["sources"] = {{{"path", "kernel.cu"}, {"content", source(program, definition)}}};
  return solution.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace winnow::tasks
