#include "base/error.h"
#include "tasks/catalogue.h"
#include "tasks/library/library_baseline.h"
#include "tasks/parse/task_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLibraryToml = R"toml(title = "Product"
description = "c = scale * a b^T"
operations = "2 * m * n * k"
bytes = "m + n"
[axes]
m = "rows"
n = "columns"
k = "depth"
[tensors.a]
role = "input"
dtype = "f16"
shape = ["m", "k"]
[tensors.b]
role = "input"
dtype = "f16"
shape = ["n", "k"]
[tensors.c]
role = "output"
dtype = "f32"
shape = ["m", "n"]
[scalars.scale]
dtype = "f32"
value = 0.5
[tolerance]
precision = "f16"
multiple = "1"
)toml";

constexpr const char* kBaseline = R"toml([[library_baselines]]
library = "cublaslt"
operation = "matmul"
a = "a"
b = "b"
c = "c"
m = "m"
n = "n"
k = "k"
b_transposed = true
compute = "f32"
alpha = "2 * scale"
)toml";

constexpr const char* kShapes = R"toml([[shapes.tiny]]
m = 2
n = 3
k = 4
[[shapes.search]]
m = 20
n = 30
k = 40
[[shapes.promotion]]
m = 5
n = 6
k = 7
[[shapes.held_out]]
m = 8
n = 9
k = 10
)toml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "no '" + from + "'" : text.replace(at, from.size(), to);
}

Task parse(const std::string& baselines) {
  return parse_task({kLibraryToml + baselines + kShapes, "", "", ""}, "task.toml");
}

std::string mistake(const std::string& baselines) {
  try {
    parse(baselines);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(LibraryBaseline, BecomesAPlanAtEachShape) {
  const Task task = parse(kBaseline);
  const auto plans = library_plans(task, task.shapes_of(ShapeSet::Search, "cuda").front());
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].name, "cublaslt");
  const ResolvedPlan& plan = plans[0].plan;
  ASSERT_EQ(plan.buffers.size(), 3U);
  EXPECT_EQ(plan.buffers[1].count, 1200);
  EXPECT_EQ(plan.buffers[1].kind, Buffer::Kind::Input);
  EXPECT_EQ(plan.buffers[2].kind, Buffer::Kind::Output);
  ASSERT_EQ(plan.steps.size(), 1U);
  const auto& step = std::get<LibraryStep>(plan.steps[0]);
  EXPECT_EQ(step.m, 20);
  EXPECT_EQ(step.n, 30);
  EXPECT_EQ(step.k, 40);
  ASSERT_EQ(step.operands.size(), 3U);
  EXPECT_EQ(step.operands[0].dtype, DType::F16);
  EXPECT_EQ(step.operands[1].count, 1200);
  EXPECT_EQ(step.operands[2].dtype, DType::F32);
  EXPECT_TRUE(step.b_transposed);
  EXPECT_EQ(step.alpha, 1.0);
}

TEST(LibraryBaseline, IsOptional) {
  const Task task = parse("");
  EXPECT_THAT(library_plans(task, task.shapes.front()), IsEmpty());
}

TEST(LibraryBaseline, TravelsToTheWorker) {
  const Task task = parse(kBaseline);
  const ResolvedPlan plan = library_plans(task, task.shapes.front()).at(0).plan;
  const nlohmann::json json = nlohmann::json::parse(nlohmann::json(plan).dump());
  const auto copy = json.get<ResolvedPlan>();
  EXPECT_EQ(nlohmann::json(copy), json);
  const auto& step = std::get<LibraryStep>(copy.steps.at(0));
  EXPECT_EQ(step.library, "cublaslt");
  EXPECT_EQ(step.operation, "matmul");
  ASSERT_EQ(step.operands.size(), 3U);
  EXPECT_EQ(step.operands[1].buffer, "b");
  EXPECT_EQ(step.operands[2].dtype, DType::F32);
  EXPECT_EQ(step.k, 4);
  EXPECT_TRUE(step.b_transposed);
  EXPECT_EQ(step.compute, LibraryCompute::F32);
}

TEST(LibraryBaseline, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(mistake(replaced(kBaseline, "\"cublaslt\"", "\"cublast\"")),
              HasSubstr("unknown library 'cublast'; did you mean 'cublaslt'"));
  EXPECT_THAT(mistake(replaced(kBaseline, "\"matmul\"", "\"conv\"")),
              HasSubstr("unknown operation 'conv'"));
  EXPECT_THAT(mistake(replaced(kBaseline, "\"f32\"", "\"f33\"")),
              HasSubstr("unknown compute 'f33'"));
  EXPECT_THAT(mistake(replaced(kBaseline, "a = \"a\"", "a = \"c\"")),
              HasSubstr("'c' is not an input"));
  EXPECT_THAT(mistake(replaced(kBaseline, "c = \"c\"", "c = \"b\"")),
              HasSubstr("'b' is not an output"));
  EXPECT_THAT(mistake(replaced(kBaseline, "alpha", "beta")), HasSubstr("beta"));
  EXPECT_THAT(mistake(replaced(kBaseline, "alpha", "beta")), HasSubstr("task.toml:"));
}

TEST(LibraryBaseline, ItsSizesMustFitTheTensors) {
  EXPECT_THAT(mistake(replaced(kBaseline, "k = \"k\"", "k = \"k + 1\"")),
              AllOf(HasSubstr("m = 2, n = 3, k = 5, batch = 1, nonzeros = 1 does not fit"),
                    HasSubstr("'a' of 8, 'b' of 12, 'c' of 6")));
  EXPECT_THAT(mistake(replaced(kBaseline, "m = \"m\"", "m = \"-m\"")), HasSubstr("does not fit"));
  EXPECT_THAT(mistake(replaced(kBaseline, "m = \"m\"", "m = \"m + 3037000500\"")),
              HasSubstr("does not fit"));
}

TEST(LibraryBaseline, ABatchFitsItsTensors) {
  EXPECT_THAT(mistake(replaced(kBaseline, "alpha", "batch = \"1\"\nalpha")), IsEmpty());
  EXPECT_THAT(mistake(replaced(kBaseline, "alpha", "batch = \"2\"\nalpha")),
              HasSubstr("does not fit"));
  EXPECT_THAT(mistake(replaced(kBaseline, "alpha", "batch = \"m + 2147483640\"\nalpha")),
              HasSubstr("does not fit"));
}

TEST(LibraryBaseline, AnOperationHasItsOwnKeys) {
  EXPECT_THAT(mistake(replaced(kBaseline, "alpha", "nonzeros")), HasSubstr("nonzeros"));
  EXPECT_THAT(mistake(replaced(kBaseline, "\"cublaslt\"", "\"cufft\"")),
              HasSubstr("unknown operation 'matmul'"));
  EXPECT_THAT(mistake(R"toml([[library_baselines]]
library = "cufft"
operation = "fft"
a = "a"
c = "c"
n = "n"
)toml"),
              HasSubstr("'a' has dtype f16"));
}

Task library_task(const std::string& name) {
  return find_task(find_catalogue(), name);
}

LibraryStep step_at_search(const Task& task) {
  const ResolvedPlan plan =
      library_plans(task, task.shapes_of(ShapeSet::Search, "cuda").front()).at(0).plan;
  return std::get<LibraryStep>(plan.steps.back());
}

TEST(LibraryBaseline, TheCatalogueHasABatchOfProducts) {
  const LibraryStep step = step_at_search(library_task("batched_gemm_f16"));
  EXPECT_EQ(step.batch, 256);
  EXPECT_EQ(step.operands.back().count, 256 * 512 * 512);
  EXPECT_EQ(step.alpha, 0.125);
}

TEST(LibraryBaseline, TheCatalogueHasTransformsInBothDirections) {
  const Task task = library_task("fft_batched");
  EXPECT_FALSE(step_at_search(task).inverse);
  const ResolvedPlan plan =
      library_plans(task, task.shapes_of(ShapeSet::Tiny, "cuda").back()).at(0).plan;
  EXPECT_TRUE(std::get<LibraryStep>(plan.steps.back()).inverse);
}

TEST(LibraryBaseline, WhatIsAddedIsCopiedIntoTheResultFirst) {
  const Task task = library_task("spmv_csr");
  const auto plans = library_plans(task, task.shapes_of(ShapeSet::Search, "cuda").front());
  ASSERT_EQ(plans.at(0).plan.steps.size(), 2U);
  const auto& copy = std::get<CopyStep>(plans[0].plan.steps[0]);
  EXPECT_EQ(copy.from, "z");
  EXPECT_EQ(copy.to, "y");
  EXPECT_EQ(copy.row_bytes, std::int64_t{5558326} * 4);
  const auto& step = std::get<LibraryStep>(plans[0].plan.steps[1]);
  EXPECT_EQ(step.nonzeros, 59524291);
  EXPECT_EQ(step.alpha, 1.5);
  EXPECT_EQ(step.beta, 0.5);
}

TEST(LibraryBaseline, NothingIsAddedToASparseMatrixProduct) {
  const LibraryStep step = step_at_search(library_task("spmm_csr"));
  EXPECT_EQ(step.n, 128);
  EXPECT_EQ(step.beta, 0);
  EXPECT_EQ(step.operands[0].count, step.m + 1);
}

} // namespace
} // namespace winnow::tasks
