#include "base/error.h"
#include "tasks/parse/task_parse.h"
#include "tasks/parse/task_rules.h"
#include "tasks/task/task.h"
#include "tasks/testing/copy_task_fake.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

// Tests count the lines.
constexpr const char* kEverySet = R"([[shapes.tiny]]
n = 5
[[shapes.search]]
n = 1000
devices = ["cpu"]
[[shapes.search]]
n = 2000
devices = ["cuda", "hip"]
[[shapes.promotion]]
n = 5
[[shapes.held_out]]
n = 1009
)";

std::string rule_error(const std::string& from, const std::string& to) {
  std::string toml = std::string(kCopyTaskToml) + kEverySet;
  const std::size_t at = toml.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  toml.replace(at, from.size(), to);
  try {
    parse_task({toml, "reference", "baseline", "python"}, "task.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TaskRules, AnAxisThatNoTensorUsesIsRefused) {
  EXPECT_THAT(rule_error("n = \"elements\"", "n = \"elements\"\nrounds = \"how often\""),
              HasSubstr("task.toml:7:10: no tensor uses the axis 'rounds'"));
}

TEST(TaskRules, AGeneratorMayBeTheOnlyUseOfAnAxis) {
  const std::string shape = "shape = [\"n\"]\n[tensors.y]";
  EXPECT_EQ(
      rule_error(shape,
                 "shape = [\"n\"]\ngenerator = { kind = \"index\", limit = \"n\", skew = [0, 1] }\n"
                 "[tensors.y]"),
      "no error");
}

TEST(TaskRules, OnlyAnAxisMayVary) {
  const std::string axes = "[axes]\n";
  EXPECT_EQ(rule_error(axes, "varied_axes = [\"n\"]\n" + axes), "no error");
  EXPECT_THAT(rule_error(axes, "varied_axes = [\"m\"]\n" + axes),
              HasSubstr("the task has no axis 'm'"));
  EXPECT_THAT(rule_error("title", "reference = { kind = \"torch\" }\nvaried_axes = [\"n\"]\ntitle"),
              HasSubstr("a module may not run at other sizes"));
}

TEST(TaskRules, AHiddenShapeWithTheSizesOfASearchShapeIsRefused) {
  EXPECT_THAT(rule_error("n = 1009", "n = 1000"),
              HasSubstr("task.toml:28:1: the hidden shape held_out/0 has the sizes of search/0"));
  EXPECT_EQ(rule_error("n = 1009", "n = 1009\n[[shapes.held_out]]\nn = 1000\ndevices = [\"cuda\"]"),
            "no error")
      << "the search shape is for other devices";
}

TEST(TaskRules, AModuleMayNameASizeOfALayer) {
  std::string toml = std::string(kCopyTaskToml) + kEverySet;
  const std::string size = "\nkernel = 3";
  for (std::size_t at = toml.find("]]\n"); at != std::string::npos;
       at = toml.find("]]\n", at + size.size())) {
    toml.insert(at + 2, size);
  }
  toml.insert(toml.find("[tensors.x]"), "kernel = \"size of the window\"\n");
  toml.insert(0, "reference = { kind = \"torch\" }\n");
  EXPECT_NO_THROW(parse_task({toml, "", "", "python"}, "task.toml"));
}

TEST(TaskRules, AModuleMayFixAllSizes) {
  std::string toml = std::string(kCopyTaskToml) + kEverySet;
  toml.replace(toml.find("n = 1009"), 8, "n = 1000");
  toml.insert(0, "reference = { kind = \"torch\" }\n");
  EXPECT_NO_THROW(parse_task({toml, "", "", "python"}, "task.toml"));
}

} // namespace
} // namespace winnow::tasks
