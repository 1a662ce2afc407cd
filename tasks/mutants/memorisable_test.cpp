#include "tasks/mutants/memorisable.h"
#include "tasks/parse/task_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTask = R"toml(title = "t"
description = "d"
operations = "n"
bytes = "n"
[axes]
n = "elements"
[tensors.y]
role = "output"
dtype = "f32"
shape = ["n"]
[tolerance]
precision = "f32"
multiple = "1"
[[shapes.tiny]]
n = 1
[[shapes.search]]
n = 5000
[[shapes.promotion]]
n = 77
[[shapes.held_out]]
n = 99
)toml";

std::string input(const std::string& generator, const std::string& more = "") {
  return "[tensors.x]\nrole = \"input\"\ndtype = \"f32\"\nshape = [\"n\"]\ngenerator = {" +
         generator + "}\n" + more;
}

Task task_with(const std::string& tensors) {
  return parse_task({kTask + tensors, "reference", "baseline", "python"}, "task.toml");
}

std::string why_with(const std::string& tensors) {
  return why_timings_can_be_memorised(task_with(tensors), "cpu");
}

TEST(Memorisable, NotWithARandomInput) {
  EXPECT_THAT(why_with(input("kind = \"normal\"")), IsEmpty());
  EXPECT_THAT(why_with(input("kind = \"one_hot\", length = 2")), IsEmpty());
  EXPECT_THAT(why_with(input("kind = \"sparse\", density = 0.001")), IsEmpty());
}

TEST(Memorisable, WithoutAnyInput) {
  EXPECT_EQ(why_with(""), "its timings can be memorised: no input differs from launch to launch "
                          "at search/0");
}

TEST(Memorisable, WithAGeneratorThatIgnoresTheSeed) {
  for (const char* generator :
       {"kind = \"constant\", value = [2, 3]", "kind = \"sparse\", density = 0",
        "kind = \"one_hot\", length = 1", "kind = \"permutation\", length = 1",
        "kind = \"index\", limit = 1, skew = [0, 1]", "kind = \"ties\", values = 1"}) {
    EXPECT_THAT(why_with(input(generator)), HasSubstr("at search/0")) << generator;
  }
}

TEST(Memorisable, WithDifferencesThatTheTypeRoundsAway) {
  EXPECT_THAT(why_with(input("kind = \"uniform\", low = 1, high = [1.00000001, 1.00000002]")),
              HasSubstr("at search/0"));
}

TEST(Memorisable, WhereTheOnlyRandomInputIsStatic) {
  const std::string random = "kind = \"normal\", mean = 0, std = 1";
  EXPECT_THAT(why_with(input(random, "static = true\n")), HasSubstr("at search/0"));
}

TEST(Memorisable, WhereOneSearchShapeIs) {
  const std::string index = input("kind = \"index\", limit = \"n\", skew = [0, 0.5]");
  EXPECT_THAT(why_with(index), IsEmpty());
  const Task task = task_with(index + "[[shapes.search]]\nn = 1\ndevices = [\"cpu\"]\n");
  EXPECT_THAT(why_timings_can_be_memorised(task, "cpu"), HasSubstr("at search/1"));
  EXPECT_THAT(why_timings_can_be_memorised(task, "cuda"), IsEmpty());
}

} // namespace
} // namespace winnow::tasks
