#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(PlanTables, ChooseByTheLoopVariable) {
  const Outcome outcome = resolve(
      R"js({"scratch": {"s": {"dtype": "f32", "count": "rows * cols"}},
      "let": {"first": {"table": [7, -1], "by": 1}},
      "launches": [{"repeat": 3, "as": "i", "let": {"offset": "2 * width",
          "width": {"table": [64, 32, 128], "by": "i"}}, "do": [
        {"fill": "s", "value": 0, "at": "offset", "count": "width"},
        {"kernel": "k", "grid": ["width", "2 + first"], "block": ["width"],
         "args": [{"tensor": "x", "at": "offset"}, "y"]}]}]})js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  ASSERT_EQ(outcome.plan->steps.size(), 6U);
  EXPECT_EQ(std::get<FillStep>(outcome.plan->steps[4]).count, 128);
  EXPECT_EQ(std::get<FillStep>(outcome.plan->steps[2]).offset_bytes, 256);
  EXPECT_THAT(outcome.launch(3).grid, ElementsAre(32, 1, 1));
  EXPECT_THAT(outcome.launch(5).block, ElementsAre(128, 1, 1));
  EXPECT_EQ(outcome.launch(1).arguments[0].offset_bytes, 512);
}

std::string with_table(const std::string& table) {
  return R"js({"launches": [{"repeat": 3, "as": "i", "let": {"size": )js" + table +
         R"js(}, "do": [{"kernel": "k", "grid": "size", "block": 32, "args": ["x", "y"]}]}]})js";
}

TEST(PlanTables, SayWhichIndexIsOutOfRange) {
  const std::string table = with_table(R"js({"table": [4, 2], "by": "i + rows - 4"})js");
  EXPECT_THAT(resolve(table).error(),
              HasSubstr("\"by\" of the table 'size' = i + rows - 4 = 2 for shape search/0 (i=2, "
                        "rows=4); expected 0 to 1: the index of one of its 2 values"));
  const std::string hidden = resolve(table, hidden_setting(37, 4099)).error();
  EXPECT_THAT(hidden, HasSubstr("is out of range for a hidden shape; expected 0 to 1"));
  EXPECT_THAT(hidden, Not(HasSubstr("37")));
}

TEST(PlanTables, NeedIntegersAndAnIndex) {
  EXPECT_THAT(errors_of(with_plan(with_table(R"js({"table": [1, "n"], "by": "i"})js"))),
              HasSubstr("a value of the table 'size' is a string; expected integers, such as "
                        "[64, 64, 128]"));
  EXPECT_THAT(errors_of(with_plan(with_table(R"js({"table": [], "by": "i"})js"))),
              HasSubstr("the table 'size' is empty"));
  EXPECT_THAT(errors_of(with_plan(with_table(R"js({"table": [1]})js"))),
              HasSubstr("the table 'size' has no \"by\""));
  EXPECT_THAT(
      resolve(
          R"js({"let": {"size": {"table": [1], "by": "i"}}, "launches": [{"repeat": 1, "as": "i",
          "do": [{"kernel": "k", "grid": "size", "block": 32, "args": ["x", "y"]}]}]})js")
          .error(),
      HasSubstr("unknown name 'i' in expression 'i'"));
}

} // namespace
} // namespace winnow::tasks
