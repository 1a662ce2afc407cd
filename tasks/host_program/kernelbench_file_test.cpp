#include "base/error.h"
#include "base/files.h"
#include "tasks/catalogue.h"
#include "tasks/host_program/gpumode_file.h"
#include "tasks/host_program/kernelbench_file.h"
#include "tasks/parse/task_parse.h"

#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kModule = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.linear = nn.Linear(features, classes)

    def forward(self, x):
        return self.linear(x)[:, 1:]

batch = 16
features = 24
classes = 8

def get_inputs():
    return [torch.rand(batch, features)]

def get_init_inputs():
    return [features, classes]
)";

constexpr const char* kProblem = R"(
title = "Linear"
description = "The output of the PyTorch module Model in reference.py."
operations = "2 * batch * features * classes"
bytes = "4 * batch * features + 4 * batch * out_1"
reference = { kind = "torch", mode = "train" }
source = { origin = "KernelBench level2/73_Linear.py", flags = [] }
axes = { batch = "varies", features = "fixed", classes = "fixed", out_1 = "varies" }
[tensors.x]
role = "input"
dtype = "f32"
shape = ["batch", "features"]
generator = { kind = "normal", mean = 0.0, std = 1.0 }
[tensors.linear_weight]
role = "input"
dtype = "f32"
shape = ["classes", "features"]
state = "linear.weight"
static = true
generator = { kind = "normal", mean = 0.0, std = 0.1 }
[tensors.linear_bias]
role = "input"
dtype = "f32"
shape = ["classes"]
state = "linear.bias"
static = true
generator = { kind = "normal", mean = 0.0, std = 0.1 }
[tensors.out]
role = "output"
dtype = "f32"
shape = ["batch", "out_1"]
[tolerance]
precision = "f32"
multiple = "32"
norm_multiple = "4"
[[shapes.tiny]]
batch = 2
features = 24
classes = 8
out_1 = 7
[[shapes.search]]
batch = 8
features = 24
classes = 8
out_1 = 7
[[shapes.promotion]]
batch = 13
features = 24
classes = 8
out_1 = 7
[[shapes.held_out]]
batch = 11
features = 24
classes = 8
out_1 = 7
)";

constexpr const char* kKernel = R"cu(/*@winnow
{"launches": [{"kernel": "linear", "grid": "ceil_div(batch * out_1, 256)", "block": 256,
  "args": ["x", "linear_weight", "linear_bias", "out", "batch", "features", "out_1"]}]}
@*/
__global__ void linear(const float* x, const float* w, const float* bias, float* out, int batch,
                       int features, int columns) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < batch * columns) {
    const int row = i / columns, column = i % columns + 1;
    float sum = bias[column];
    for (int k = 0; k < features; ++k) {
      sum += x[row * features + k] * w[column * features + k];
    }
    out[i] = sum;
  }
}
)cu";

/// A task whose reference is a module, and a kernel for it.
struct Exported {
  Task task = parse_task({kProblem, "", "", kModule}, "task.toml");
  KernelFile file = *parse_kernel_file(kKernel, "k.cu").kernel_file;

  Exported() { task.name = "73_Linear"; }
  HostProgram program() const {
    return {file, task, {}, task.shapes_of(ShapeSet::Search, "cuda"), "A kernel", "sm_90a"};
  }
};

bool python_compiles(const std::string& text) {
  const TemporaryDirectory directory("module");
  write_file_atomic(directory.path() / "exported.py", text);
  return std::system(fmt::format("cd {} && python3 -m py_compile exported.py 2>/dev/null",
                                 directory.path().string())
                         .c_str()) == 0;
}

TEST(ModuleExtension, ChecksItselfAgainstTheModule) {
  const std::string text = torch_extension(Exported().program());
  for (const char* part :
       {"GIVEN_AXES = (\"out_1\",)",
        "    TensorSpec(\"linear_weight\", \"input\", \"float32\", (\"classes\", \"features\"), "
        "True, "
        "\"linear.weight\"),\n",
        "def task_73_Linear(x, linear_weight, linear_bias, out_1):",
        "TRAINING = True\nNORM_MULTIPLES = (4.0,)\n", "REFERENCE = r'''\nimport torch\n",
        "KNOBS = r'''\n\"\"\"The integers of a module file", "void check_draw("}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  for (const char* part : {"check_reference", "ReferencePlan::", "namespace reference"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
}

TEST(ModuleExtension, IsPython) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no python3";
  }
  EXPECT_TRUE(python_compiles(torch_extension(Exported().program())));
}

TEST(KernelBenchFile, HasTheModuleAsItIsAndTheKernel) {
  const std::string text = kernelbench_file(Exported().program());
  EXPECT_THAT(text, HasSubstr(kModule));
  for (const char* part :
       {"# A kernel\n", "load_inline(", "__global__ void linear(", "class ModelNew(Model):\n",
        "\"linear.weight\"),\n", "_module()  # build the kernel"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  for (const char* part : {"\nCHECK = ", "check_draw", "__main__", "@@"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
  EXPECT_THAT(kernelbench_notes(Exported().task, text), IsEmpty());
}

TEST(KernelBenchFile, IsPython) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no python3";
  }
  EXPECT_TRUE(python_compiles(kernelbench_file(Exported().program())));
}

// WINNOW_PYTHON names a Python that has PyTorch.
TEST(KernelBenchFile, BuildsTheModelAndPassesItsTensors) {
  const char* python = std::getenv("WINNOW_PYTHON");
  const TemporaryDirectory directory("kernelbench");
  const Exported exported;
  const std::string folder = directory.path().string();
  write_file_atomic(directory.path() / "reference.py", kModule);
  write_file_atomic(directory.path() / "model_new.py", kernelbench_file(exported.program()));
  write_file_atomic(directory.path() / "extension.py", torch_extension(exported.program()));
  const int status = std::system(
      fmt::format("cd {} && {} {}/exported_files_test.py reference.py model_new.py extension.py",
                  folder, python == nullptr ? "python3" : python, WINNOW_HOST_PROGRAM)
          .c_str());
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) {
    GTEST_SKIP() << "no PyTorch";
  }
  EXPECT_EQ(status, 0);
}

constexpr const char* kGpuModeTail = R"(
def inputs_of(data):
    x, = data
    return [x]


def results_of(data):
    x, = data
    return []
)";

/// As an import of GPU MODE makes it: the module knows which parts of the data are inputs.
Exported gpumode_problem() {
  Exported exported;
  exported.task.reference_python += kGpuModeTail;
  return exported;
}

TEST(GpuModeFile, NamesItsBoardAndNoStream) {
  const std::string text = gpumode_file(gpumode_problem().program(), {"linear_v2", {"H100", "L4"}});
  EXPECT_TRUE(text.starts_with("#!POPCORN leaderboard linear_v2\n#!POPCORN gpus H100 L4\n\n#"));
  for (const char* part : {"\ndef custom_kernel(data):\n", "load_inline(", "plan::launch(::linear,",
                           "void launch(void (*kernel)(Parameters...), Size3 grid",
                           "<<<1024, 256>>>", "_module().exported_run(integers, reals, pointers)",
                           "void exported_run(plan::Integers integers, plan::Reals reals, "
                           "plan::Integers pointers) {"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(gpumode_notes(gpumode_problem().task, text), IsEmpty());
  EXPECT_TRUE(python_compiles(text));
  EXPECT_THAT(gpumode_file(gpumode_problem().program(), {"linear", {}}), Not(HasSubstr("gpus")));
}

TEST(GpuModeFile, AllHostCodeRunsOnTheDefaultStream) {
  Exported exported = gpumode_problem();
  exported.file = *parse_kernel_file(R"cu(/*@winnow
{"scratch": {"sums": {"dtype": "f32", "count": "batch", "once": 0}, "more": {"dtype": "f32", "count": "batch"}},
 "launches": [{"fill": "more", "value": 1}, {"copy": "more", "to": "sums"},
  {"kernel": "linear", "grid": "batch", "block": 256, "args": ["x", "sums", "out"]}]}
@*/
__global__ void linear(const float* x, float* sums, float* out) {}
)cu",
                                     "k.cu")
                       .kernel_file;
  const std::string text = gpumode_file(exported.program(), {"linear", {}});
  EXPECT_THAT(text, HasSubstr("plan::copy(plan::Place{"));
  EXPECT_THAT(text, HasSubstr("plan::fill(plan::Place{"));
  EXPECT_THAT(gpumode_notes(exported.task, text), IsEmpty());
}

TEST(GpuModeFile, TellsOfTheWordThatTheServerRefuses) {
  Exported exported = gpumode_problem();
  exported.task.source.flags = {"scaled"};
  EXPECT_THAT(gpumode_notes(exported.task, "a = 1\n// a STREAM of loads\n// streams\n"),
              ElementsAre(HasSubstr("as in line 2: use another word"), HasSubstr("smaller than")));
}

TEST(GpuModeFile, IsForTasksOfThatImport) {
  EXPECT_THROW(gpumode_file(Exported().program(), {"linear", {}}), UsageError);
  EXPECT_THROW(gpumode_file(gpumode_problem().program(), {}), UsageError);
}

TEST(KernelBenchFile, HasTheNameThatKernelBenchLooksFor) {
  Task task = Exported().task;
  EXPECT_EQ(kernelbench_file_name(task), "level_2_problem_73_sample_0_kernel.py");
  task.source.origin = "/home/me/KernelBench/level1/100_HingeLoss.py";
  EXPECT_EQ(kernelbench_file_name(task), "level_1_problem_100_sample_0_kernel.py");
  task.source.origin = "mine.py";
  EXPECT_EQ(kernelbench_file_name(task), "73_Linear_kernel.py");
}

TEST(KernelBenchFile, NamesThatClashAreRefused) {
  for (const char* line : {"TENSORS = 3\n", "from torch import nn, Tensor as KERNEL\n",
                           "a, _call = 1, 2\n", "class ModelNew:\n    x = 1\n"}) {
    Exported exported;
    exported.task.reference_python += line;
    EXPECT_THROW(kernelbench_file(exported.program()), UsageError) << line;
  }
  Exported exported;
  exported.task.reference_python += "import collections\nTensor = torch.Tensor\n";
  EXPECT_THAT(kernelbench_file(exported.program()), HasSubstr("class ModelNew"));
}

TEST(KernelBenchFile, IsForTasksWithAModule) {
  const Task axpy = find_task(WINNOW_CATALOGUE, "axpy");
  const KernelFile file = *parse_kernel_file(axpy.baseline, "k.cu").kernel_file;
  try {
    kernelbench_file({file, axpy, {{"BLOCK", 256}}, {}, "A kernel", ""});
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("axpy has no PyTorch module"));
  }
}

TEST(KernelBenchFile, NotesWhatKernelBenchMayRefuse) {
  Exported exported;
  exported.task.torch->training = false;
  exported.task.source.flags = {"scaled"};
  EXPECT_THAT(
      kernelbench_notes(exported.task, "x = 1  # pass\n// try\n  Forward pass of\npassed, entry\n"),
      ElementsAre(HasSubstr("'pass' in line 3; then run"), HasSubstr("mode eval"),
                  HasSubstr("smaller than KernelBench's")));
}

} // namespace
} // namespace winnow::tasks
