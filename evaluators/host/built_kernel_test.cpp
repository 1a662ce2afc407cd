#include "base/files.h"
#include "evaluators/host/built_kernel.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/resolved_plan_json.h"
#include "tasks/testing/copy_task_fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kAlphaAndFiveShapes = R"([scalars.alpha]
dtype = "f32"
value = 2.5
[[shapes.tiny]]
n = 5
[[shapes.tiny]]
n = 7
[[shapes.search]]
n = 1000
[[shapes.promotion]]
n = 1001
[[shapes.held_out]]
n = 1009
)";

constexpr const char* kTwoKernels = R"(/*@winnow
{"launches": [
  {"kernel": "few", "when": "n < 100", "grid": [1], "block": [32], "args": ["x", "y", "alpha", "n"]},
  {"kernel": "many", "when": "n >= 100", "grid": [1], "block": [32], "args": ["x", "y", "alpha", "n"]}]}
@*/
__global__ void few(const float* x, float* y, float alpha, int n) {}
__global__ void many(const float* x, float* y, float alpha, int n) {}
)";

/// A kernel file with a kernel for few and a kernel for many elements, of which only `few` is
/// compiled.
class BuiltKernelTest : public testing::Test {
protected:
  BuiltKernelTest() {
    kernel_.file = &file_;
    kernel_.task = &task_;
    kernel_.compiled.verdict = tasks::Verdict::Correct;
    kernel_.compiled.module = directory_.path() / "module";
    kernel_.compiled.facts.signatures.push_back(
        {"few", tasks::decode_parameters("p4fc:x p4f:y f4:alpha i4:n").value(), {}});
    write_file_atomic(kernel_.compiled.module, "code");
  }
  bool serves_set(tasks::ShapeSet set) const {
    return serves(kernel_, facts_, task_.shapes_of(set, "cpu"));
  }

  TemporaryDirectory directory_{"built-kernel"};
  tasks::Task task_ = tasks::parse_task(
      {std::string(tasks::kCopyTaskToml) + kAlphaAndFiveShapes, "", "", ""}, "task.toml");
  tasks::KernelFile file_ = tasks::parse_kernel_file(kTwoKernels, "k.cu").kernel_file.value();
  tasks::DeviceFacts facts_;
  BuiltKernel kernel_;
};

TEST_F(BuiltKernelTest, ResolvesAPlanOnce) {
  const tasks::Shape& shape = task_.shapes.front();
  const PlanAtShape& at = plan_at(kernel_, facts_, shape);
  ASSERT_TRUE(at.plan);
  EXPECT_EQ((*at.plan)->steps.size(), 1U);
  EXPECT_EQ(&plan_at(kernel_, facts_, shape), &at);
  EXPECT_NE(&plan_at(kernel_, facts_, task_.shapes.at(1)), &at);
}

// A mutant of the inputs changes scalars, and the shape keeps its name.
TEST_F(BuiltKernelTest, ShapesOfOneNameHavePlansOfTheirOwn) {
  const tasks::Shape shape = task_.shapes.front();
  tasks::Shape mutant = shape, shorter = shape;
  mutant.scalars.at("alpha") = -1;
  shorter.axes.at("n") = 3;
  const std::string text = tasks::json_text(*plan_at(kernel_, facts_, shape).plan);
  const std::string of_mutant = tasks::json_text(*plan_at(kernel_, facts_, mutant).plan);
  EXPECT_THAT(text, HasSubstr("2.5"));
  EXPECT_THAT(of_mutant, Not(HasSubstr("2.5")));
  EXPECT_NE(tasks::json_text(*plan_at(kernel_, facts_, shorter).plan), text);
  EXPECT_EQ(tasks::json_text(*plan_at(kernel_, facts_, shape).plan), text);
}

TEST_F(BuiltKernelTest, AnotherDeviceHasPlansOfItsOwn) {
  const tasks::Shape& shape = task_.shapes.front();
  ASSERT_TRUE(plan_at(kernel_, facts_, shape).plan);
  tasks::DeviceFacts small = facts_;
  small.max_threads_per_block = 16;
  EXPECT_FALSE(plan_at(kernel_, small, shape).plan);
}

TEST_F(BuiltKernelTest, KeepsTheLastPlansOnly) {
  tasks::Shape shape = task_.shapes.front();
  for (int alpha = 0; alpha < 1000; ++alpha) {
    shape.scalars.at("alpha") = alpha;
    plan_at(kernel_, facts_, shape);
  }
  EXPECT_LT(kernel_.plans.size(), 100U);
}

TEST_F(BuiltKernelTest, KeepsWhyAPlanDoesNotHold) {
  const tasks::Shape shape = task_.shapes_of(tasks::ShapeSet::Search, "cpu").front();
  for (int again = 0; again < 2; ++again) {
    const PlanAtShape& at = plan_at(kernel_, facts_, shape);
    EXPECT_FALSE(at.plan);
    ASSERT_FALSE(at.errors.empty());
    EXPECT_THAT(to_string(at.errors.front()), HasSubstr("kernel 'many' was not compiled"));
  }
}

TEST_F(BuiltKernelTest, ServesTheShapesWhoseKernelsItHas) {
  EXPECT_TRUE(serves_set(tasks::ShapeSet::Tiny));
  EXPECT_FALSE(serves_set(tasks::ShapeSet::Promotion));
}

TEST_F(BuiltKernelTest, ServesNothingWithoutItsModule) {
  std::filesystem::remove(kernel_.compiled.module);
  EXPECT_FALSE(serves_set(tasks::ShapeSet::Tiny));
  write_file_atomic(kernel_.compiled.module, "code");
  EXPECT_TRUE(serves_set(tasks::ShapeSet::Tiny));
  kernel_.compiled.verdict = tasks::Verdict::CompileError;
  EXPECT_FALSE(serves_set(tasks::ShapeSet::Tiny));
}

} // namespace
} // namespace winnow::evaluators
