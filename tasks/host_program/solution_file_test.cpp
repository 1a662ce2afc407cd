#include "base/error.h"
#include "tasks/host_program/kernelbench_file.h"
#include "tasks/host_program/solution_file.h"
#include "tasks/parse/task_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

constexpr const char* kScaleDefinition = R"({"name": "scale_h8", "op_type": "scale",
"axes": {"rows": {"type": "var"}, "hidden": {"type": "const", "value": 8}},
"inputs": {"x": {"shape": ["rows", "hidden"], "dtype": "bfloat16"},
           "factor": {"shape": null, "dtype": "float32"},
           "bias": {"shape": ["hidden"], "dtype": "bfloat16"}},
"outputs": {"y": {"shape": ["rows", "hidden"], "dtype": "bfloat16"}}, "reference": "def run ..."})";

constexpr const char* kScaleTask = R"(
title = "Scale"
description = "The outputs of run() in reference.py."
operations = "rows * hidden"
bytes = "4 * rows * hidden"
reference = { kind = "torch", mode = "eval" }
source = { origin = "definition scale_h8", flags = [] }
axes = { rows = "varies", hidden = "fixed" }
[tensors.x]
role = "input"
dtype = "bf16"
shape = ["rows", "hidden"]
[tensors.bias]
role = "input"
dtype = "bf16"
shape = ["hidden"]
[tensors.y]
role = "output"
dtype = "bf16"
shape = ["rows", "hidden"]
[scalars.factor]
dtype = "f32"
value = 2.0
[tolerance]
precision = "bf16"
multiple = "32"
shapes.tiny = [{ rows = 2, hidden = 8 }]
shapes.search = [{ rows = 64, hidden = 8 }]
shapes.promotion = [{ rows = 61, hidden = 8 }]
shapes.held_out = [{ rows = 59, hidden = 8 }]
)";

constexpr const char* kScaleKernel = R"cu(/*@winnow
{"scratch": {"part": {"dtype": "f32", "count": "rows"}},
 "launches": [{"kernel": "scale", "grid": ["rows"], "block": ["hidden"],
               "args": ["x", "bias", "factor", "y", "part", "hidden"]}]}
@*/
__global__ void scale(const void* x, const void* bias, float factor, void* y, float* part, int n) {}
)cu";

struct ExportedScale {
  Task task;
  KernelFile file = *parse_kernel_file(kScaleKernel, "k.cu").kernel_file;

  explicit ExportedScale(std::string toml = kScaleTask) {
    const std::string shapes = "shapes.tiny";
    const std::size_t at = toml.find(shapes); // keys of the root come first in TOML
    toml = toml.substr(at) + toml.substr(0, at);
    task = parse_task({toml, "", "", "def run(x, factor, bias):\n    return x * factor + bias\n"},
                      "task.toml");
    task.name = "scale_h8";
  }
  HostProgram program() const {
    return {file, task, {}, task.shapes_of(ShapeSet::Search, "cuda"), "A kernel", "sm_90a"};
  }
  nlohmann::json solution(SolutionFor benchmark = SolutionFor::FlashInfer) const {
    return nlohmann::json::parse(
        solution_file(program(), {"winnow_4", "winnow/model", kScaleDefinition}, benchmark));
  }
};

TEST(SolutionFile, HasTheFieldsOfFlashInfer) {
  nlohmann::json solution = ExportedScale().solution();
  EXPECT_EQ(solution["sources"].size(), 1U);
  solution.erase("sources");
  EXPECT_EQ(solution, nlohmann::json::parse(R"({"name": "winnow_4", "definition": "scale_h8",
    "author": "winnow/model", "description": "A kernel",
    "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": "kernel.cu::run",
             "dependencies": [], "destination_passing_style": true, "binding": "torch"}})"));
}

TEST(SolutionFile, NamesLanguageAndOptionsForSolExecBench) {
  const nlohmann::json spec = ExportedScale().solution(SolutionFor::SolExecBench)["spec"];
  EXPECT_EQ(spec["languages"], nlohmann::json({"cuda_cpp"}));
  EXPECT_FALSE(spec.contains("language"));
  EXPECT_FALSE(spec["compile_options"]["cuda_cflags"].empty());
}

TEST(SolutionFile, TakesInputsInTheOrderOfTheDefinitionAndSizesFromTensors) {
  const std::string text = ExportedScale().solution()["sources"][0]["content"];
  const std::string run = text.substr(text.find("void exported_run_on_tensors"));
  EXPECT_EQ(
      run,
      R"(void exported_run_on_tensors(torch::Tensor x_given, double factor_given, torch::Tensor bias_given, torch::Tensor y_given) {
  plan::run_on(sizes_of({x_given.size(0), x_given.size(1)}, {factor_given}),
               {x_given, bias_given, y_given});
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module_) {
  module_.def("run", &exported_run_on_tensors, pybind11::arg("x"), pybind11::arg("factor"), pybind11::arg("bias"), pybind11::arg("y"));
}
)");
  EXPECT_LT(text.find("#undef __CUDA_NO_HALF_OPERATORS__"), text.find("#include"));
  EXPECT_THAT(text, HasSubstr("inline void run_on(const Sizes& sizes"));
  EXPECT_THAT(text, HasSubstr("struct KernelPlan {"));
}

TEST(SolutionFile, SaysWhatItCannotWrite) {
  const ExportedScale exported;
  const auto mistake = [](const auto& write) -> std::string {
    try {
      write();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(mistake([&] {
                solution_file(exported.program(), {"a", "b", ""}, SolutionFor::FlashInfer);
              }),
              HasSubstr("scale_h8 has no definition.json"));
  EXPECT_THAT(mistake([&] { kernelbench_file(exported.program()); }),
              HasSubstr("reference.py of task scale_h8 has no class Model"));
  std::string toml = kScaleTask;
  for (const std::string old : {"rows\", \"hidden\"]"}) {
    for (auto at = toml.find(old); at != std::string::npos; at = toml.find(old, at + 8)) {
      toml.replace(at, old.size(), "rows * 2\", \"hidden\"]");
    }
  }
  EXPECT_THAT(mistake([&] { ExportedScale(toml).solution(); }), HasSubstr("the axis rows varies"));
}

} // namespace
} // namespace winnow::tasks
