#include "base/files.h"
#include "tasks/catalogue.h"
#include "tasks/host_program/host_program.h"

#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string extension_of(const Task& task, const std::string& kernel,
                         const std::string& title = "A kernel") {
  const KernelFileResult parsed = parse_kernel_file(kernel, "k.cu");
  EXPECT_TRUE(parsed.kernel_file) << to_string(parsed.errors.front());
  const KernelFile& file = *parsed.kernel_file;
  ParameterChoice choice;
  for (const Parameter& parameter : file.plan.parameters) {
    choice[parameter.name] = parameter.values.front();
  }
  return torch_extension(
      {file, task, choice, task.shapes_of(ShapeSet::Search, "cuda"), title, "sm_90a"});
}

std::string extension_of(const std::string& name) {
  const Task task = find_task(WINNOW_CATALOGUE, name);
  return extension_of(task, task.baseline);
}

TEST(TorchExtension, HasTheTasksInterface) {
  const std::string text = extension_of("axpy");
  for (const char* part :
       {"# A kernel\n# Task: axpy (AXPY).\n# Tensors: x f32[n] (input), y f32[n] (input), z f32[n] "
        "(output).\n",
        "NVCC_FLAGS = [\"-O3\", \"--expt-relaxed-constexpr\", "
        "\"-gencode=arch=compute_90a,code=sm_90a\"]\n",
        "AXES = (\"n\",)\nGIVEN_AXES = ()  # the others are sizes of tensors\n"
        "SCALARS = {\"alpha\": float}\n",
        "    TensorSpec(\"x\", \"input\", \"float32\", (\"n\",), False),\n",
        "    (\"search/2 (n=16777216, alpha=2.5)\", {\"n\": 16777216}, (2.5,)),\n",
        "def axpy(x, y, alpha):\n    \"\"\"Returns z.\n",
        "    return _call((x, y), (alpha,), {})\n", "KERNEL = r'''\n",
        "  return {integers_.at(0), reals_.at(0)};\n", "#line 1 \"kernel.cu\"\n",
        "plan::launch(stream_, ::axpy,", "REFERENCE = r'''\nimport torch\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("99991"))); // a held-out size
  EXPECT_THAT(text, Not(HasSubstr("@@")));
}

TEST(TorchExtension, RenamesWhatPythonHasAUseFor) {
  EXPECT_THAT(extension_of("stencil2d"),
              AllOf(HasSubstr("def stencil2d(in_, center, side):"),
                    HasSubstr("return _call((in_,), (center, side), {})")));
}

TEST(TorchExtension, TakesSizesThatNoTensorStates) {
  Task task = find_task(WINNOW_CATALOGUE, "gemm_w4");
  const auto drop = [](TensorSpec& tensor, std::size_t dimension, const char* size) {
    tensor.shape[dimension] = Expression::parse(size);
  };
  drop(task.tensors[1], 1, "2 * half_k / 2");
  const std::string text = extension_of(task, task.baseline);
  for (const char* part :
       {"GIVEN_AXES = (\"half_k\",)", "def gemm_w4(x, w, scale, half_k):",
        "return _call((x, w, scale), (), {\"half_k\": half_k})",
        "TensorSpec(\"w\", \"input\", \"uint8\", (\"n\", \"2 * half_k / 2\"), True)",
        "{sizes_.n, plan::floor_div((2 * sizes_.half_k), 2)},"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(TorchExtension, PreparesKeptBuffers) {
  const Task task = find_task(WINNOW_CATALOGUE, "axpy");
  const std::string text = extension_of(task, R"(/*@winnow
{"scratch": {"a": {"dtype": "f32", "count": 8}, "b": {"dtype": "f32", "count": 4, "once": 0}},
 "launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["x", "y", "z", "a", "b"]}]}
@*/
__global__ void k(const float*, const float*, float*, float*, float*) {}
)");
  EXPECT_THAT(text,
              HasSubstr("SCRATCH_STAYS = (False, True)  # from call to call\nPREPARES = True"));
  EXPECT_THAT(text, HasSubstr("plan::fill(stream_, {&buffers_[4]}, 0.0, -1);"));
}

/// Why Python cannot read the texts, each the content of a file with this name; empty: Python can.
/// One process reads all files, because Python takes longer to start than to read a file.
std::string python_objections(const std::map<std::string, std::string>& texts) {
  const TemporaryDirectory directory("extension");
  for (const auto& [name, text] : texts) {
    write_file_atomic(directory.path() / name, text);
  }
  const int status = std::system(
      fmt::format("cd {} && python3 -m py_compile *.py >objections 2>&1", directory.path().string())
          .c_str());
  const std::string said = read_file(directory.path() / "objections", 1U << 20U);
  return status == 0 ? "" : "Python refuses: " + said;
}

TEST(TorchExtension, IsPython) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no python3";
  }
  EXPECT_THAT(python_objections({{"good.py", "def f():\n  pass\n"}, {"bad.py", "def f(:\n"}}),
              AllOf(HasSubstr("bad.py"), Not(HasSubstr("good.py"))));
  std::map<std::string, std::string> texts;
  for (const CatalogueEntry& entry : list_tasks(WINNOW_CATALOGUE)) {
    texts[entry.name + ".py"] = extension_of(entry.name);
  }
  const Task task = find_task(WINNOW_CATALOGUE, "axpy");
  int odd_files = 0;
  for (const std::string& odd :
       {std::string("// ''' + evil + '''\n"), std::string("// \\'''\n"), std::string("// \"\"\"\n"),
        std::string("// \xe2\x80\xa8\r\n"), std::string("const char* s = \"\\n\\\\\";\n"),
        std::string("// no end of the line \\")}) {
    texts[fmt::format("odd_{}.py", ++odd_files)] =
        extension_of(task, task.baseline + odd, odd + "\xff\r");
  }
  EXPECT_EQ(python_objections(texts), "");
}

} // namespace
} // namespace winnow::tasks
