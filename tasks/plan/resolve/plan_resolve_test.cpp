#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(PlanResolve, GivesNumbers) {
  Setting setting;
  setting.choice = {{"B", 128}};
  setting.parameters = "p4fc:x p4f:y i4:n f4:eps f4:half p4f:part b1:flag f8:d";
  const Outcome outcome = resolve(R"js({"params": {"B": [64, 128]},
      "let": {"blocks": "ceil_div(total, B)", "total": "rows * cols"
}
, "scratch" : {"part" : {"dtype" : "f32", "count" : "blocks", "once" : 0}}, "launches" : [ {
  "kernel" : "k<{B}, {rows}, {dtype:x}, S{1}>",
  "grid" : [ "blocks", "rows" ],
  "block" : [ "B", 2 ],
  "shared_bytes" : "sizeof(x) * B + sizeof(part)",
  "cooperative" : true,
  "args" : [
    "x", {"tensor" : "y", "at" : "cols"}, "total", "eps", {"float" : "eps / 2"}, null, "rows > 1",
    "steps"
  ]
} ]
})js",
                                  setting);
  ASSERT_THAT(outcome.errors, IsEmpty());
  const LaunchStep& launch = outcome.launch();
  EXPECT_EQ(launch.kernel, "k<128, 4, float, S{1}>");
  EXPECT_THAT(launch.grid, ElementsAre(32, 4, 1));
  EXPECT_THAT(launch.block, ElementsAre(128, 2, 1));
  EXPECT_EQ(launch.shared_bytes, 516);
  EXPECT_TRUE(launch.cooperative);
  ASSERT_EQ(launch.arguments.size(), 8U);
  EXPECT_EQ(launch.arguments[0].buffer, "x");
  EXPECT_EQ(launch.arguments[0].size_bytes, 8);
  EXPECT_EQ(launch.arguments[1].offset_bytes, 4000);
  EXPECT_EQ(launch.arguments[2].integer, 4000);
  EXPECT_EQ(launch.arguments[2].size_bytes, 4);
  EXPECT_EQ(launch.arguments[3].kind, ResolvedArgument::Kind::Float);
  EXPECT_EQ(launch.arguments[3].real, 0.5);
  EXPECT_EQ(launch.arguments[4].real, 0.25);
  EXPECT_EQ(launch.arguments[5].kind, ResolvedArgument::Kind::Pointer);
  EXPECT_EQ(launch.arguments[5].buffer, "");
  EXPECT_EQ(launch.arguments[6].integer, 1);
  EXPECT_EQ(launch.arguments[7].kind, ResolvedArgument::Kind::Float); // an integer becomes a double
  EXPECT_EQ(launch.arguments[7].real, 3);
  const auto& buffers = outcome.plan->buffers;
  ASSERT_EQ(buffers.size(), 5U);
  EXPECT_EQ(buffers[0].kind, Buffer::Kind::Input);
  EXPECT_EQ(buffers[2].kind, Buffer::Kind::Output);
  EXPECT_EQ(buffers[4].name, "part");
  EXPECT_EQ(buffers[4].count, 32);
  EXPECT_EQ(buffers[4].once, 0.0);
}

TEST(PlanResolve, WhenChoosesByShape) {
  const std::string json = R"js({"launches": [
      {"kernel": "k", "when": "cols % 4 == 0", "grid": 1, "block": 32, "args": ["x", "y"]},
      {"kernel": "k2", "when": "cols % 4", "grid": 1, "block": 32, "args": ["x", "y"]}]})js";
  Setting odd;
  odd.shape = sample_shape(4, 1001);
  EXPECT_EQ(resolve(json).launch().kernel, "k");
  EXPECT_EQ(resolve(json, odd).launch().kernel, "k2");
  EXPECT_EQ(resolve(json, odd).plan->steps.size(), 1U);
}

TEST(PlanResolve, RepeatsWithPickAndOwnLet) {
  const Outcome outcome = resolve(
      R"js({"scratch": {"a": {"dtype": "f32", "count": "rows*cols"}, "b": {"dtype": "f32", "count": "rows*cols"}},
      "launches": [{"repeat": "steps", "as": "t", "let": {"last": "t == steps - 1"}, "do": [
        {"kernel": "k", "grid": ["t + 1"], "block": 32, "args": [
          {"pick": ["x", "a", "b"], "by": "t == 0 ? 0 : 1 + (t - 1) % 2"},
          {"pick": ["a", "b", "y"], "by": "last ? 2 : t % 2"}]}]}]})js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  ASSERT_EQ(outcome.plan->steps.size(), 3U);
  EXPECT_EQ(outcome.launch(0).arguments[0].buffer, "x");
  EXPECT_EQ(outcome.launch(0).arguments[1].buffer, "a");
  EXPECT_EQ(outcome.launch(1).arguments[0].buffer, "a");
  EXPECT_EQ(outcome.launch(1).arguments[1].buffer, "b");
  EXPECT_EQ(outcome.launch(2).arguments[0].buffer, "b");
  EXPECT_EQ(outcome.launch(2).arguments[1].buffer, "y");
  EXPECT_THAT(outcome.launch(2).grid, ElementsAre(3, 1, 1));
}

TEST(PlanResolve, FillsAndCopies) {
  const Outcome outcome =
      resolve(R"js({"scratch": {"s": {"dtype": "i32", "count": 100}}, "launches": [
      {"fill": "s", "value": 7, "at": 10}, {"fill": "s", "value": -1, "count": "rows"},
      {"fill": "y", "value": "nan", "when": "rows > 100"}, {"fill": "s", "value": 0, "count": 0},
      {"copy": "x", "to": "y"}, {"copy": {"tensor": "idx", "at": 1}, "to": {"tensor": "s", "at": "50"}, "count": 2},
      {"copy": "x", "to": "y", "count": 10, "rows": "rows", "from_stride": "cols", "to_stride": 20}]})js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  const auto& steps = outcome.plan->steps;
  ASSERT_EQ(steps.size(), 5U);
  const auto& fill = std::get<FillStep>(steps[0]);
  EXPECT_EQ(fill.offset_bytes, 40);
  EXPECT_EQ(fill.count, 90);
  EXPECT_EQ(fill.dtype, DType::I32);
  EXPECT_EQ(std::get<FillStep>(steps[1]).count, 4);
  EXPECT_EQ(std::get<CopyStep>(steps[2]).row_bytes, 16000);
  const auto& part = std::get<CopyStep>(steps[3]);
  EXPECT_EQ(part.from_offset_bytes, 4);
  EXPECT_EQ(part.to_offset_bytes, 200);
  EXPECT_EQ(part.row_bytes, 8);
  const auto& pitched = std::get<CopyStep>(steps[4]);
  EXPECT_EQ(pitched.rows, 4);
  EXPECT_EQ(pitched.from_stride_bytes, 4000);
  EXPECT_EQ(pitched.to_stride_bytes, 80);
}

TEST(PlanResolve, KernelNamesComeOnceInOrder) {
  const std::string text = R"js(/*@winnow {"params": {"V": [1, 2]}, "launches": [
      {"kernel": "k<{V}>", "when": "cols > 500", "grid": 1, "block": 1, "args": ["x", "y"]},
      {"kernel": "k2<{rows}>", "when": "cols <= 500", "grid": 1, "block": 1, "args": ["x", "y"]}]} @*/
      __global__ void k(); __global__ void k2();)js";
  const KernelFile file = parse_kernel_file(text, "k.cu").kernel_file.value();
  std::vector<Diagnostic> errors;
  const auto names = kernel_names(
      file, sample_task(),
      {sample_shape(4, 1000), sample_shape(4, 2000), sample_shape(4, 10), sample_shape(5, 10)},
      {{"V", 2}}, {}, errors);
  EXPECT_THAT(names, ElementsAre("k<2>", "k2<4>", "k2<5>"));
  EXPECT_THAT(errors, IsEmpty());
  kernel_names(file, sample_task(), {sample_shape()}, {}, {}, errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].what, HasSubstr("no value was chosen for parameter 'V'"));
}

// Mistakes in one launch. The value of "grid" begins at column 49 of line 1.
struct LaunchMistake {
  const char* members;
  const char* message;
};

class BadLaunchAtShape : public testing::TestWithParam<LaunchMistake> {};

TEST_P(BadLaunchAtShape, IsExplained) {
  Setting setting;
  setting.facts.sm_count = 8;
  EXPECT_THAT(resolve_launch(GetParam().members, setting).error(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadLaunchAtShape,
    testing::Values(
        LaunchMistake{R"js("grid": ["cols - 1000"], "block": 32, "args": ["x", "y"])js",
                      "k.cu:1:51: grid[0] = cols - 1000 = 0 for shape search/0 (cols=1000); "
                      "expected at least 1"},
        LaunchMistake{R"js("grid": [1, -2], "block": 32, "args": ["x", "y"])js",
                      "grid[1] = -2 for shape search/0; expected at least 1"},
        LaunchMistake{R"js("grid": ["1 << 40"], "block": 32, "args": ["x", "y"])js",
                      "grid[0] = 1 << 40 = 1099511627776 for shape search/0; expected at most "
                      "2147483647 blocks in x"},
        LaunchMistake{R"js("grid": [1, 70000], "block": 32, "args": ["x", "y"])js",
                      "expected at most 65535 blocks in y"},
        LaunchMistake{
            R"js("grid": [2000000000, 65535, 65535], "block": 1024, "args": ["x", "y"])js",
            "the launch of 'k' of 2000000000 x 65535 x 65535 blocks of 1024 threads is too large"},
        LaunchMistake{R"js("grid": [2000000000, 2], "block": 1024, "args": ["x", "y"])js",
                      "expected at most 1099511627776 threads in a launch"},
        LaunchMistake{R"js("grid": 1, "block": 0, "args": ["x", "y"])js",
                      "block[0] = 0 for shape search/0; expected at least 1"},
        LaunchMistake{
            R"js("grid": 1, "block": "cols + 96", "args": ["x", "y"])js",
            "block[0] = cols + 96 = 1096 for shape search/0 (cols=1000); expected at most 1024 "
            "threads: use min(cols + 96, 1024) and let each thread loop over the elements"},
        LaunchMistake{R"js("grid": 1, "block": [1, 1, 128], "args": ["x", "y"])js",
                      "block[2] = 128 for shape search/0; expected at most 64 threads"},
        LaunchMistake{R"js("grid": 1, "block": [64, 32], "args": ["x", "y"])js",
                      "block = 64 x 32 x 1 = 2048 is too large for shape search/0; expected at "
                      "most 1024 threads in a block"},
        LaunchMistake{
            R"js("grid": 1, "block": 1, "shared_bytes": "cols * 1000", "args": ["x", "y"])js",
            "shared_bytes = cols * 1000 = 1000000 for shape search/0 (cols=1000); expected 0 to "
            "232448 bytes"},
        LaunchMistake{R"js("grid": 1, "block": 1, "shared_bytes": -1, "args": ["x", "y"])js",
                      "shared_bytes = -1"},
        LaunchMistake{
            R"js("grid": ["rows / (cols - 1000)"], "block": 1, "args": ["x", "y"])js",
            "k.cu:1:56: grid[0] = rows / (cols - 1000) has no value for shape search/0 (rows=4, "
            "cols=1000): division by zero: 4 / 0; expected a divisor of at least 1"},
        LaunchMistake{
            R"js("grid": ["rows * 9223372036854775807"], "block": 1, "args": ["x", "y"])js",
            "the result does not fit 64-bit integers: 4 * 9223372036854775807"},
        LaunchMistake{R"js("grid": ["row"], "block": 1, "args": ["x", "y"])js",
                      "k.cu:1:51: unknown name 'row' in expression 'row'; did you mean 'rows'?"},
        LaunchMistake{R"js("grid": [1], "block": 1, "when": "0 && colz > 2", "args": ["x", "y"])js",
                      "unknown name 'colz' in expression '0 && colz > 2'; did you mean 'cols'?"},
        LaunchMistake{R"js("grid": ["x"], "block": 1, "args": ["x", "y"])js",
                      "'x' in expression 'x' is a buffer, not a number"},
        LaunchMistake{R"js("grid": ["eps"], "block": 1, "args": ["x", "y"])js",
                      "'eps' is a float in an integer expression"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["z", "y"])js",
                      "unknown name 'z' in args; did you mean"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["temperature", "y"])js",
                      "unknown name 'temperature' in args; known: x, idx, y, w, steps, eps, rows, "
                      "cols, has_"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["x", {"tensor": "yy"}])js",
                      "unknown buffer 'yy'; did you mean 'y'?"},
        LaunchMistake{
            R"js("grid": 1, "block": 1, "args": ["x", {"tensor": "y", "at": "rows * cols"}])js",
            "at = rows * cols = 4000 for shape search/0 (rows=4, cols=1000); expected an element "
            "of 'y' (4000 elements)"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["x", {"tensor": "y", "at": -1}])js",
                      "at = -1 for shape search/0"},
        LaunchMistake{
            R"js("grid": 1, "block": 1, "args": ["x", {"pick": ["y", "x"], "by": "rows / 2"}])js",
            "by = rows / 2 = 2 for shape search/0 (rows=4); expected 0 to 1: an index into the 2 "
            "items of \"pick\""},
        LaunchMistake{R"js("grid": 1, "block": 1, "when": "rows > 4", "args": ["x", "y"])js",
                      "k.cu:1:25: no launch applies to shape search/0 (cols=1000, rows=4, eps=0.5, "
                      "steps=3): every `when` is false"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["x", "x"])js",
                      "output 'y' is not in the args of any launch for shape search/0; expected "
                      "\"y\" in the args"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["y", null])js",
                      "output 'y' is bound only to pointers to const"}));

TEST(PlanResolve, HiddenShapesStayHidden) {
  const char* const launches[] = {
      R"js("grid": ["cols - 4099"], "block": 32, "args": ["x", "y"])js",
      R"js("grid": 1, "block": "cols", "args": ["x", "y"])js",
      R"js("grid": 1, "block": ["min(cols, 1024)", "rows"], "args": ["x", "y"])js",
      R"js("grid": ["cols * cols * 100", "rows", 1], "block": 1024, "args": ["x", "y"])js",
      R"js("grid": ["rows / (cols - cols)"], "block": 32, "args": ["x", "y"])js",
      R"js("grid": ["cols << 60"], "block": 32, "args": ["x", "y"])js",
      R"js("grid": 1, "block": 1, "args": ["x", {"tensor": "y", "at": "cols * rows"}])js",
      R"js("grid": 1, "block": 1, "when": "cols < 9", "args": ["x", "y"])js",
      R"js("grid": 1, "block": 1, "args": ["x", {"pick": ["y"], "by": "cols"}])js"};
  for (const char* launch : launches) {
    const std::string error = resolve_launch(launch, hidden_setting(37, 4099)).error();
    EXPECT_THAT(error, HasSubstr("a hidden shape")) << launch;
    EXPECT_THAT(error, Not(HasSubstr("37"))) << launch;
    EXPECT_THAT(error, Not(HasSubstr("= 4099"))) << launch;
    EXPECT_THAT(error, Not(HasSubstr("promotion"))) << launch;
    EXPECT_THAT(error, Not(HasSubstr("search/0"))) << launch;
  }
}

TEST(PlanResolve, HiddenBuffersStayHidden) {
  const char* const plans[] = {
      R"js({"launches": [{"fill": "y", "value": 0, "count": "cols * cols"}]})js",
      R"js({"launches": [{"copy": "x", "to": "y", "count": "rows * cols", "rows": 2, "from_stride": 0}]})js",
      R"js({"scratch": {"s": {"dtype": "f32", "count": "cols << 40"}}, "launches": [{"fill": "y", "value": 0}]})js",
      R"js({"launches": [{"repeat": "cols << 20", "do": [{"fill": "y", "value": 0}]}]})js"};
  for (const char* plan : plans) {
    const std::string error = resolve(plan, hidden_setting(37, 4099)).error();
    EXPECT_THAT(error, HasSubstr("a hidden shape")) << plan;
    EXPECT_THAT(error, Not(HasSubstr("4099"))) << plan;
    EXPECT_THAT(error, Not(HasSubstr("151663"))) << plan; // 37 * 4099
  }
}

// Mistakes of whole plans. "S" stands for a correct launch.
struct PlanMistakeCase {
  const char* json;
  const char* message;
};

class BadPlanAtShape : public testing::TestWithParam<PlanMistakeCase> {};

TEST_P(BadPlanAtShape, IsExplained) {
  Setting setting;
  setting.facts.max_steps = 1000;
  setting.facts.memory_bytes = 100000;
  EXPECT_THAT(resolve(GetParam().json, setting).error(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadPlanAtShape,
    testing::Values(
        PlanMistakeCase{
            R"js({"let": {"a": "b + 1", "b": "c", "c": "a"}, "launches": [{"fill": "y", "value": 0}]})js",
            "let bindings depend on each other in a circle: a -> b -> c -> a"},
        PlanMistakeCase{R"js({"let": {"a": "a"}, "launches": [{"fill": "y", "value": 0}]})js",
                        "in a circle: a -> a"},
        PlanMistakeCase{R"js({"let": {"rows": "3"}, "launches": [{"fill": "y", "value": 0}]})js",
                        "let binding 'rows' has the name of an axis of the task"},
        PlanMistakeCase{
            R"js({"scratch": {"x": {"dtype": "f32", "count": 1}}, "launches": [{"fill": "y", "value": 0}]})js",
            "scratch buffer 'x' has the name of a tensor"},
        PlanMistakeCase{
            R"js({"let": {"a": "1 / (rows - 4)"}, "launches": [{"fill": "y", "value": 0}]
})js",
            "let 'a' = 1 / (rows - 4) has no value for shape search/0 (rows=4): division by zero: "
            "1 / 0"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "f32", "count": "rows - 4"}}, "launches": [{"fill": "y", "value": 0}]})js",
            "the count of scratch 's' = rows - 4 = 0 for shape search/0 (rows=4); expected at "
            "least 1"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "f64", "count": 12000}, "t": {"dtype": "f32", "count": "cols"}},
            "launches": [{"fill": "y", "value": 0}]})js",
            "no error"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "f64", "count": 12000}, "t": {"dtype": "f32", "count": "cols + 1"}},
            "launches": [{"fill": "y", "value": 0}]})js",
            "the count of scratch 't' = cols + 1 = 1001 for shape search/0 (cols=1000); expected "
            "scratch buffers of at most 100000 bytes together"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "f64", "count": "1 << 62"}}, "launches": [{"fill": "y", "value": 0}]})js",
            "at most 100000 bytes"},
        PlanMistakeCase{R"js({"launches": [{"fill": "x", "value": 0}]})js",
                        "the fill writes to input 'x'; expected an output"},
        PlanMistakeCase{R"js({"launches": [{"fill": {"pick": [null], "by": 0}, "value": 0}]})js",
                        "the fill has a null pointer"},
        PlanMistakeCase{
            R"js({"launches": [{"fill": "y", "value": 0, "at": 3999, "count": 2}]})js",
            "count = 2 for shape search/0; expected 0 up to the end of 'y' (4000 elements)"},
        PlanMistakeCase{R"js({"launches": [{"fill": "y", "value": 0, "count": -1}]})js",
                        "count = -1"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "u8", "count": 1}}, "launches": [{"fill": "s", "value": 300}]})js",
            "the value 300 does not fit 's' of dtype u8"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "i32", "count": 1}}, "launches": [{"fill": "s", "value": "inf"}]})js",
            "the value inf does not fit"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "f8e4m3", "count": 1}}, "launches": [{"fill": "s", "value": "-inf"}]})js",
            "the value -inf does not fit 's' of dtype f8e4m3, which has no inf and would "
            "store nan; expected a finite value"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "f8e4m3", "count": 1, "once": "inf"}}, "launches": [{"fill": "s", "value": 1}]})js",
            "the value inf does not fit 's' of dtype f8e4m3"},
        PlanMistakeCase{
            R"js({"scratch": {"s": {"dtype": "i32", "count": 1, "once": 0.5}}, "launches": [{"fill": "s", "value": 1}]})js",
            "the value 0.5 does not fit"},
        PlanMistakeCase{R"js({"launches": [{"copy": "y", "to": "x"}]})js",
                        "the copy writes to input 'x'"},
        PlanMistakeCase{
            R"js({"launches": [{"copy": "idx", "to": "y"}]})js",
            "a copy from 'idx' of dtype i32 to 'y' of dtype f32; expected the same dtype"},
        PlanMistakeCase{
            R"js({"launches": [{"copy": "x", "to": {"tensor": "y", "at": 1}}]})js",
            "the copy goes past the end of target 'y' for shape search/0: 1 rows of 4000 every "
            "4000 elements from element 1; expected a range inside the buffer (4000 elements)"},
        PlanMistakeCase{R"js({"launches": [{"copy": "x", "to": "y", "count": 4001}]})js",
                        "past the end of source 'x'"},
        PlanMistakeCase{
            R"js({"launches": [{"copy": "x", "to": "y", "count": 10, "rows": "1 << 55", "from_stride": "1 << 55"}]})js",
            "past the end of source"},
        PlanMistakeCase{
            R"js({"launches": [{"copy": "x", "to": "y", "count": 10, "rows": 2, "to_stride": 5}]})js",
            "to_stride = 5 for shape search/0; expected at least \"count\""},
        PlanMistakeCase{
            R"js({"launches": [{"copy": {"tensor": "y", "at": 5}, "to": "y", "count": 6}]})js",
            "overlap in 'y' for shape search/0"},
        PlanMistakeCase{
            R"js({"launches": [{"repeat": 1001, "do": [{"fill": "y", "value": 0}]}]})js",
            "repeat = 1001 for shape search/0; expected 0 to 1000 iterations"},
        PlanMistakeCase{
            R"js({"launches": [{"repeat": 100, "do": [{"repeat": 11, "do": [{"fill": "y", "value": 0}]}]}]})js",
            "the plan unrolls to more than 1000 launches for shape search/0"},
        PlanMistakeCase{
            R"js({"launches": [{"fill": "y", "value": 0}, {"repeat": 1000, "do": [{"repeat": 1000, "do": [{"repeat": 1000, "do": [{"fill": "y", "value": 0, "when": 0}]}]}]}]})js",
            "unrolls to more than 1000"},
        PlanMistakeCase{R"js({"launches": [{"repeat": -1, "do": [{"fill": "y", "value": 0}]}]})js",
                        "repeat = -1"},
        PlanMistakeCase{
            R"js({"launches": [{"fill": "y", "value": 0, "when": "t"}, {"repeat": 2, "as": "t", "do": [{"fill": "y", "value": 0}]}]})js",
            "unknown name 't'"},
        PlanMistakeCase{
            R"js({"launches": [{"kernel": "k<{BLOK}>", "grid": 1, "block": 1, "args": ["x", "y"]}]})js",
            "k.cu:1:25: unknown name 'BLOK' in the kernel's name"},
        PlanMistakeCase{
            R"js({"launches": [{"kernel": "k<{dtype:z}>", "grid": 1, "block": 1, "args": ["x", "y"]}]})js",
            "unknown buffer 'z' in the kernel's name"},
        PlanMistakeCase{
            R"js({"launches": [{"kernel": "k<{eps}>", "grid": 1, "block": 1, "args": ["x", "y"]}]})js",
            "'eps' in the kernel's name is a float"}));

TEST(PlanResolve, ReportsEachBadLaunch) {
  const Outcome outcome = resolve(R"js({"launches": [
      {"kernel": "k", "grid": 0, "block": 1, "args": ["x", "y"]},
      {"kernel": "k", "grid": 1, "block": 2000, "args": ["x", "y"]}]})js");
  EXPECT_EQ(outcome.errors.size(), 2U);
}

TEST(PlanResolve, AKernelThatWasNotCompiledIsAnError) {
  const std::string text =
      R"js(/*@winnow {"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["x", "y"]}]} @*/ __global__ void k();)js";
  const KernelFile file = parse_kernel_file(text, "k.cu").kernel_file.value();
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
  EXPECT_FALSE(resolve_plan(file, sample_task(), sample_shape(), {}, {}, {}, errors, warnings));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].what, HasSubstr("was not compiled"));
}

TEST(PlanResolve, SmallDevicesHaveSmallLimits) {
  Setting setting;
  setting.facts.max_threads_per_launch = 1000;
  EXPECT_THAT(resolve_launch(R"js("grid": 4, "block": 256, "args": ["x", "y"])js", setting).error(),
              HasSubstr("expected at most 1000 threads in a launch on this device"));
}

} // namespace
} // namespace winnow::tasks
