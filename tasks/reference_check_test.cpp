#include "base/error.h"
#include "tasks/catalogue.h"
#include "tasks/reference/python_outline.h"
#include "tasks/reference_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const Task& task) {
  try {
    check_reference(task);
    return {};
  } catch (const UsageError& error) {
    return std::string(error.what()) + "; " + error.remedy();
  }
}

/// axpy with these edits of reference.py: z = alpha * x + y.
std::string refused_with(std::string_view old, const std::string& now) {
  Task task = find_task(WINNOW_CATALOGUE, "axpy");
  const std::size_t at = task.reference_python.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  task.reference_python.replace(at, old.size(), now);
  return refusal(task);
}

TEST(ReferenceCheck, AcceptsTheCatalogue) {
  for (const Task& task : find_tasks(WINNOW_CATALOGUE, {})) {
    EXPECT_EQ(refusal(task), "") << task.name;
  }
}

TEST(ReferenceCheck, RefusesTheMarksOfASkeleton) {
  Task task = find_task(WINNOW_CATALOGUE, "axpy");
  task.baseline += "\n// TO DO: a decent kernel\n";
  EXPECT_THAT(refusal(task), HasSubstr("baseline.cu:"));
  const std::string why =
      refused_with("return self.alpha", "# TO DO: the operation\n        return self.alpha");
  EXPECT_THAT(why, HasSubstr("reference.py:"));
  EXPECT_THAT(why, HasSubstr("winnow tasks selftest axpy"));
}

TEST(ReferenceCheck, RefusesAnotherSignature) {
  const std::string forward = "self, x: torch.Tensor, y: torch.Tensor";
  EXPECT_THAT(refused_with(forward, "self, x: torch.Tensor"),
              HasSubstr("forward() takes x, but task.toml has input tensors: x, y"));
  EXPECT_THAT(refused_with(forward, "self, x, y, z"), HasSubstr("takes x, y, z"));
  EXPECT_THAT(refused_with(forward, "self, y, x"), HasSubstr("in another order: x, y"));
  EXPECT_EQ(refused_with(forward, "self, a, b, *, fast=True"), "");
  EXPECT_EQ(refused_with(forward, "self, *tensors"), "");
  EXPECT_EQ(refused_with(forward, "self, x, y=None, z=None"), "");
  EXPECT_THAT(refused_with("self, alpha: float", "self"), HasSubstr("__init__() takes none"));
  EXPECT_THAT(refused_with("return self.alpha * x + y", "return x, (y)"),
              HasSubstr("forward() returns 2 values, but task.toml has 1 output tensors"));
  EXPECT_THAT(refused_with("def forward", "def forwards"), HasSubstr("no class Model"));
}

TEST(PythonOutline, ReadsAFunctionAsPythonDoes) {
  const std::string text = R"py(
class Other:
    def forward(self, no): return 1
class Model(nn.Module):
    """def forward(self, none): ( """
    def forward(self, a: dict[str, int],  # a comment, with (
                b="x, y)", /, *, key=1):
        def inner(t):
            return 1, 2, 3
        if a:
            return 7
        return (
            a,
            b,  # the last
        )
)py";
  const auto forward = find_python_function(text, "Model", "forward");
  ASSERT_TRUE(forward);
  EXPECT_THAT(forward->parameters, ElementsAre("a", "b"));
  EXPECT_EQ(forward->line, 6);
  EXPECT_EQ(forward->required, 1U);
  EXPECT_EQ(forward->return_line, 12);
  EXPECT_EQ(forward->returned, 2U);
  EXPECT_FALSE(find_python_function(text, "", "forward"));
  EXPECT_FALSE(find_python_function("def f(", "", "g"));
  EXPECT_TRUE(find_python_function("def f(", "", "f"));
  EXPECT_EQ(find_python_function("def f():\n  return []", "", "f")->returned, 0U);
  EXPECT_EQ(find_python_function("def f():\n  return [g(i) for i in x]", "", "f")->returned,
            std::nullopt);
}

TEST(PythonOutline, TakesAStringOfSeveralLinesForOneStatement) {
  const std::string text = R"py(
class Model(nn.Module):
    """Adds.

    def forward(self, none):
the end"""

    def forward(self, x):
        '''Twice,
and more.'''
        text = """
class Other:
"""
        return x, x
)py";
  const auto forward = find_python_function(text, "Model", "forward");
  ASSERT_TRUE(forward);
  EXPECT_THAT(forward->parameters, ElementsAre("x"));
  EXPECT_EQ(forward->line, 8);
  EXPECT_EQ(forward->return_line, 14);
  EXPECT_EQ(forward->returned, 2U);
}

} // namespace
} // namespace winnow::tasks
