#include "base/error.h"
#include "tasks/parse/task_parse.h"
#include "tasks/reference/narrowing.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kMarkedSource = R"(// NARROW(comment, 1)
sum += NARROW(product, (double)a[i] * b[i]);
NARROW(
  partial_sum, NARROW(product, max(x, y)) + sum)
)";

constexpr const char* kNarrowToml = R"(title = "Negation"
description = "y = -x"
operations = "n"
bytes = "n"
[axes]
n = "elements"
[tensors.x]
role = "input"
dtype = "f16"
shape = ["n"]
[tensors.y]
role = "output"
dtype = "f16"
shape = ["n"]
[tolerance]
precision = "f16"
accumulate = "f32"
multiple = "1"
[[shapes.tiny]]
n = 2
[[shapes.search]]
n = 3
[[shapes.promotion]]
n = 4
[[shapes.held_out]]
n = 5
)";

Task task_allowing(const std::string& allows) {
  std::string toml = kNarrowToml;
  const std::string before = "multiple = \"1\"\n";
  toml.insert(toml.find(before) + before.size(), allows);
  return parse_task({toml, kMarkedSource, "", ""}, "folder/task.toml");
}

std::string refusal_of(const std::string& allows) {
  try {
    task_allowing(allows);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> texts_of(const Task& task) {
  std::vector<std::string> texts;
  for (const Narrowing& narrowing : narrowings_of(task)) {
    texts.push_back(to_string(narrowing) + (narrowing.is_allowed ? ", allowed" : ""));
  }
  return texts;
}

TEST(Narrowing, MarksHaveNamesAndNest) {
  const auto marks = narrow_marks(kMarkedSource, "reference.cu");
  EXPECT_EQ(marks.size(), 3U);
  EXPECT_THAT(narrow_names(marks), ElementsAre("product", "partial_sum"));
}

TEST(Narrowing, WithoutItsMarksEveryExpressionKeepsItsPlace) {
  const std::string plain =
      without_marks(kMarkedSource, narrow_marks(kMarkedSource, "reference.cu"));
  EXPECT_EQ(plain, "// NARROW(comment, 1)\n"
                   "sum +=       (         (double)a[i] * b[i]);\n"
                   "      (\n"
                   "                     (         max(x, y)) + sum)\n");
}

TEST(Narrowing, MarksBecomeCallsWithTheNumberOfTheirName) {
  EXPECT_EQ(with_calls(kMarkedSource, narrow_marks(kMarkedSource, "reference.cu"), "f"),
            "// NARROW(comment, 1)\n"
            "sum += f(0,  (double)a[i] * b[i]);\n"
            "f(1,  f(0,  max(x, y)) + sum)\n");
}

TEST(Narrowing, AMarkWithoutANameIsAnErrorInItsLine) {
  for (const char* mark : {"NARROW(a + b)", "NARROW", "NARROW(2, x)", "NARROW(x)"}) {
    try {
      narrow_marks(std::string("\n") + mark + ";", "folder/reference.cu");
      FAIL() << mark;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("folder/reference.cu:2: NARROW without a name")) << mark;
    }
  }
}

TEST(Narrowing, AnIntermediateIsAsFineAsTheSumsUnlessTheTaskAllowsMore) {
  EXPECT_THAT(texts_of(task_allowing("")),
              ElementsAre("product as f16", "product as bf16", "partial_sum as f16",
                          "partial_sum as bf16"));
  const Task task = task_allowing("allows = { partial_sum = \"f16\" }\n");
  EXPECT_THAT(texts_of(task),
              ElementsAre("product as f16", "product as bf16", "partial_sum as f16, allowed",
                          "partial_sum as bf16", "partial_sum as f8e4m3"));
  EXPECT_EQ(allowed_text(task.tolerance), "each partial sum may be rounded to f16");
  EXPECT_EQ(allowed_text(task_allowing("").tolerance), "");
}

TEST(Narrowing, AnAllowanceThatSaysNothingIsAnError) {
  EXPECT_THAT(refusal_of("allows = { produkt = \"f16\" }\n"),
              HasSubstr("task.toml:19:22: unknown intermediate"));
  EXPECT_THAT(refusal_of("allows = { produkt = \"f16\" }\n"), HasSubstr("product"));
  EXPECT_THAT(refusal_of("allows = { product = \"f32\" }\n"),
              HasSubstr("f32 is no coarser than f32, in which sums are formed"));
  EXPECT_THAT(refusal_of("allows = { product = \"int\" }\n"), HasSubstr("int is no coarser"));
  EXPECT_THAT(refusal_of("allows = { product = \"half\" }\n"), HasSubstr("unknown precision"));
}

TEST(Narrowing, EveryFormatThatIsNextCoarserCanBeRoundedTo) {
  for (const Precision precision : all_precisions()) {
    for (const Precision coarser : next_coarser(precision)) {
      EXPECT_GT(epsilon(coarser), epsilon(precision));
      EXPECT_EQ(format_of(coarser).mantissa_bits, -std::log2(epsilon(coarser)));
    }
  }
}

} // namespace
} // namespace winnow::tasks
