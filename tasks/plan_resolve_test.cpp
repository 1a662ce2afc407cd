#include "tasks/plan_resolve.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// y[rows][cols] from x[rows][cols] and idx[rows], with a float and an integer scalar.
Task sample_task() {
  Task task;
  task.axes = {{"rows", ""}, {"cols", ""}};
  const std::vector<Expression> matrix{Expression::parse("rows"), Expression::parse("cols")};
  task.tensors = {{"x", Role::Input, DType::F32, matrix, {}, ""},
                  {"idx", Role::Input, DType::I32, {Expression::parse("rows")}, {}, ""},
                  {"y", Role::Output, DType::F32, matrix, {}, ""}};
  task.scalars = {{"eps", DType::F32, 0.5, 0.1, 0.9, ""}, {"steps", DType::I32, 3, 1, 9, ""}};
  return task;
}

Shape sample_shape(std::int64_t rows = 4, std::int64_t cols = 1000,
                   ShapeSet set = ShapeSet::Search) {
  return {"search/0", set, {{"rows", rows}, {"cols", cols}}, {{"eps", 0.5}, {"steps", 3}}, {}};
}

struct Outcome {
  std::optional<ResolvedPlan> plan;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;

  std::string error() const { return errors.empty() ? "no error" : errors.front(); }
  const LaunchStep& launch(std::size_t step = 0) const {
    return std::get<LaunchStep>(plan.value().steps.at(step));
  }
};

struct Setting {
  Shape shape = sample_shape();
  ParameterChoice choice;
  DeviceFacts facts;
  std::string parameters = "p4fc:x p4f:y";
};

CompiledFacts compiled(const KernelFile& file, const Setting& setting) {
  std::vector<Diagnostic> ignored;
  CompiledFacts result;
  std::vector<std::string> names =
      kernel_names(file, sample_task(), {setting.shape}, setting.choice, setting.facts, ignored);
  if (names.empty()) { // the plan is wrong: resolve_plan is to say so
    names = {"k", "k2"};
  }
  for (const std::string& name : names) {
    result.signatures.push_back(
        {name, decode_parameters(setting.parameters).value(), std::nullopt});
  }
  return result;
}

Outcome resolve(const std::string& json, const Setting& setting = {}) {
  const std::string text =
      "/*@winnow " + json + " @*/\n__global__ void k();\n__global__ void k2();";
  const KernelFileResult file = parse_kernel_file(text, "k.cu");
  Outcome outcome;
  for (const Diagnostic& error : file.errors) {
    ADD_FAILURE() << to_string(error);
  }
  if (!file.kernel_file) {
    return outcome;
  }
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
  outcome.plan =
      resolve_plan(*file.kernel_file, sample_task(), setting.shape, setting.choice, setting.facts,
                   compiled(*file.kernel_file, setting), errors, warnings);
  for (const Diagnostic& error : errors) {
    outcome.errors.push_back(to_string(error));
  }
  for (const Diagnostic& warning : warnings) {
    outcome.warnings.push_back(to_string(warning));
  }
  EXPECT_EQ(outcome.plan.has_value(), outcome.errors.empty());
  return outcome;
}

// One launch of k; `members` are its other members.
Outcome resolve_launch(const std::string& members, const Setting& setting = {}) {
  return resolve(R"js({"launches": [{"kernel": "k", )js" + members + "}]}", setting);
}

Setting with_parameters(const std::string& parameters) {
  Setting setting;
  setting.parameters = parameters;
  return setting;
}

Outcome resolve_args(const std::string& args, const std::string& parameters) {
  return resolve_launch(R"js("grid": 1, "block": 32, "args": [)js" + args + "]",
                        with_parameters(parameters));
}

Setting hidden_setting(std::int64_t rows, std::int64_t cols) {
  Setting setting;
  setting.shape = sample_shape(rows, cols, ShapeSet::Promotion);
  return setting;
}

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
  EXPECT_EQ(launch.arguments[7].kind, ResolvedArgument::Kind::Float); // an integer for a double
  EXPECT_EQ(launch.arguments[7].real, 3);
  const auto& buffers = outcome.plan->buffers;
  ASSERT_EQ(buffers.size(), 4U);
  EXPECT_EQ(buffers[0].kind, Buffer::Kind::Input);
  EXPECT_EQ(buffers[2].kind, Buffer::Kind::Output);
  EXPECT_EQ(buffers[3].name, "part");
  EXPECT_EQ(buffers[3].count, 32);
  EXPECT_EQ(buffers[3].once, 0.0);
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
            "threads: clamp with min(cols + 96, 1024) and let each thread stride"},
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
        LaunchMistake{
            R"js("grid": 1, "block": 1, "args": ["x", "x"])js",
            "output 'y' is in no launch's args for shape search/0; expected \"y\" in the args"},
        LaunchMistake{R"js("grid": 1, "block": 1, "args": ["y", null])js",
                      "output 'y' is bound to pointers to const only"}));

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

// Arguments against parameters.
struct ArgumentMistake {
  const char* args;
  const char* parameters;
  const char* message;
};

class BadArguments : public testing::TestWithParam<ArgumentMistake> {};

TEST_P(BadArguments, AreExplained) {
  EXPECT_THAT(resolve_args(GetParam().args, GetParam().parameters).error(),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadArguments,
    testing::Values(
        ArgumentMistake{R"js("x", "y")js", "p4fc:x p4f:y i4:n",
                        "k.cu:1:25: kernel 'k' has 3 parameters and 2 args: the first mismatch is "
                        "parameter 3 'n' (int); "
                        "the parameters are (const float* x, float* y, int n), the args (x, y); "
                        "expected one argument for each parameter"},
        ArgumentMistake{R"js("x", "rows", "y")js", "p4fc:x p4f:y",
                        "kernel 'k' has 2 parameters and 3 args: the first mismatch is parameter 2 "
                        "'y' (float*)"},
        ArgumentMistake{R"js("x", "y", "rows")js", "p4fc:x p4f:y", "argument 3 has no parameter"},
        ArgumentMistake{R"js("x", "rows")js", "p4fc:x p4f:y",
                        "k.cu:1:80: parameter 2 'y' of kernel 'k' is float*, but its argument is a "
                        "number (rows); the parameters are "
                        "(const float* x, float* y), the args (x, rows); expected a tensor, "
                        "scratch buffer or null"},
        ArgumentMistake{R"js("x", "y", "x")js", "p4fc:x p4f:y i4:n",
                        "parameter 3 'n' of kernel 'k' is int, but its argument is a pointer (x)"},
        ArgumentMistake{
            R"js("x", "y", null)js", "p4fc:x p4f:y f4:s",
            "parameter 3 's' of kernel 'k' is float, but its argument is a pointer (null)"},
        ArgumentMistake{R"js("x", "y", "eps")js", "p4fc:x p4f:y i4:n",
                        "is int, but its argument is a float (eps)"},
        ArgumentMistake{R"js("x", "y", 0.5)js", "p4fc:x p4f:y u8:n",
                        "is unsigned long long, but its argument is a float (float 0.5)"},
        ArgumentMistake{R"js("x", {"float": "eps"})js", "p4fc:x p4f:y",
                        "is float*, but its argument is a float (float eps)"},
        ArgumentMistake{R"js("x", "y", 3)js", "p4fc:x p4f:y o16:v",
                        "is 16-byte struct, but its argument is 3; the parameters are"},
        ArgumentMistake{R"js("x", "y", "rows * cols * 1000000")js", "p4fc:x p4f:y i4:n",
                        "args[2] = rows * cols * 1000000 = 4000000000 for shape search/0 (rows=4, "
                        "cols=1000); it does not fit parameter 3 'n' of "
                        "kernel 'k' (int); expected -2147483648 to 2147483647: use long long, for "
                        "the parameter and for products of indices above 2^31"},
        ArgumentMistake{
            R"js("x", "y", -1)js", "p4fc:x p4f:y u4:n",
            "does not fit parameter 3 'n' of kernel 'k' (unsigned int); expected 0 to 4294967295"},
        ArgumentMistake{R"js("x", "y", 2)js", "p4fc:x p4f:y b1:n", "(bool); expected 0 to 1"},
        ArgumentMistake{R"js("x", "y", 128)js", "p4fc:x p4f:y i1:n",
                        "(signed char); expected -128 to 127"}));

TEST(PlanResolve, WideIntegersFitWideParameters) {
  const Outcome outcome =
      resolve_args(R"js("x", "y", "rows * cols * 1000000", "-rows")js", "p4fc:x p4f:y u4:n i8:m");
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(outcome.launch().arguments[2].integer, 4000000000);
  EXPECT_EQ(outcome.launch().arguments[3].integer, -4);
}

TEST(PlanResolve, WarnsOfInputsThatAreNotConst) {
  EXPECT_THAT(
      resolve_args(R"js("x", "y")js", "p4f:x p4f:y").warnings,
      ElementsAre("k.cu:1:75: input 'x' is bound to parameter 1 'x' of kernel 'k', which is not a "
                  "pointer to const; expected const float*: inputs must not change"));
  EXPECT_THAT(resolve_args(R"js("x", "y")js", "p4fc:x p4f:y").warnings, IsEmpty());
  EXPECT_THAT(resolve_args(R"js("x", "y")js", "p16c:x p16:y").warnings, IsEmpty()); // float4*
}

TEST(PlanResolve, WarnsOfElementsOfAnotherSize) {
  EXPECT_THAT(
      resolve_args(R"js("x", "y")js", "p4fc:x p2f:y").warnings,
      ElementsAre(HasSubstr(
          "'y' has 4-byte elements (f32), but parameter 2 'y' of kernel 'k' is 2-byte float*; "
          "expected float*")));
}

TEST(PlanResolve, WarningsInLoopsComeOnce) {
  const Outcome outcome = resolve(
      R"js({"launches": [{"repeat": 50, "do": [{"kernel": "k", "grid": 1, "block": 1, "args": ["x", "y"]}]}]})js",
      with_parameters("p4f:x p4f:y"));
  EXPECT_EQ(outcome.plan->steps.size(), 50U);
  EXPECT_EQ(outcome.warnings.size(), 1U);
}

// Mistakes of whole plans; "S" stands for a launch that is fine.
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
                        "the fill of a null pointer"},
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

TEST(ResolvedPlanJson, RoundTrips) {
  Setting setting;
  setting.parameters = "p4fc:x p4f:y i4:n f4:eps";
  const Outcome outcome =
      resolve(R"js({"scratch": {"s": {"dtype": "f32", "count": 10, "once": 0}}, "launches": [
      {"fill": "s", "value": "-inf"}, {"fill": "s", "value": "nan"}, {"copy": "x", "to": "y"},
      {"kernel": "k", "grid": [3, 2], "block": 32, "shared_bytes": 16, "cooperative": true,
       "args": ["x", {"tensor": "y", "at": 5}, "rows", {"float": "-inf"}]}]})js",
              setting);
  ASSERT_TRUE(outcome.plan);
  const nlohmann::json json = nlohmann::json::parse(nlohmann::json(*outcome.plan).dump());
  const auto copy = json.get<ResolvedPlan>();
  EXPECT_EQ(nlohmann::json(copy), json);
  EXPECT_EQ(std::get<FillStep>(copy.steps[0]).value, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(std::get<FillStep>(copy.steps[1]).value));
  EXPECT_EQ(std::get<LaunchStep>(copy.steps[3]).arguments[1].offset_bytes, 20);
  EXPECT_EQ(std::get<LaunchStep>(copy.steps[3]).arguments[3].real,
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(copy.buffers.back().once, 0.0);
}

TEST(ResolvedPlanJson, RefusesNonsense) {
  const Outcome outcome = resolve_launch(R"js("grid": 1, "block": 1, "args": ["x", "y"])js");
  const nlohmann::json good = *outcome.plan;
  nlohmann::json bad = good;
  bad["buffers"][0]["dtype"] = 99;
  EXPECT_THROW(bad.get<ResolvedPlan>(), nlohmann::json::exception);
  bad = good;
  bad["buffers"][0].erase("count");
  EXPECT_THROW(bad.get<ResolvedPlan>(), nlohmann::json::exception);
  bad = good;
  bad["steps"][0]["grid"] = nlohmann::json::array({1});
  EXPECT_THROW(bad.get<ResolvedPlan>(), nlohmann::json::exception);
}

} // namespace
} // namespace winnow::tasks
