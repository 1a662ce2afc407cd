#include "tasks/plan/kernel_file.h"
#include "tasks/plan/plan_test_support.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kGood = R"text(// A softmax.
/*@winnow
{
  "params":  { "BLOCK": [128, 256, 512], "VEC": [1, 4], "FAST": [false, true] },
  "where":   ["BLOCK * VEC <= 1024"],
  "let":     { "parts": "ceil_div(cols, BLOCK * VEC)" },
  "scratch": { "partial": { "dtype": "f32", "count": "rows * parts" },
               "lock": { "dtype": "i32", "count": 1, "once": 0 } },
  "compile": { "fast_math": "FAST" },
  "launches": [
    { "fill": "partial", "value": "-inf", "when": "parts > 1" },
    { "copy": {"tensor": "x", "at": "8"}, "to": "partial", "count": 4, "rows": 2, "from_stride": 8 },
    { "kernel": "row_softmax<{BLOCK}, {VEC}>", "when": "cols % VEC == 0",
      "grid": ["rows"], "block": "BLOCK", "shared_bytes": "4 * BLOCK", "cooperative": true,
      "args": ["x", "y", null, "rows", 3, true, 0.5, {"float": "1 / sqrt(cols)"},
               {"pick": ["x", null], "by": "parts > 1"}, {"tensor": "x", "at": "cols"}] },
    { "repeat": "steps", "as": "t", "let": { "last": "t == steps - 1" },
      "do": [ { "kernel": "row_softmax<{BLOCK}, {VEC}>", "grid": [1, 2, "rows"], "block": [32],
                "args": ["x", "y"] } ] }
  ]
}
@*/
#include <torch/extension.h>
#include <cuda_runtime.h>
template <int BLOCK, int VEC>
__global__ void __launch_bounds__(BLOCK) row_softmax(const float* x, float* y) {}
)text";

std::vector<std::string> warnings_of(const std::string& text) {
  const KernelFileResult result = parse_kernel_file(text, "k.cu");
  EXPECT_THAT(result.errors, IsEmpty());
  std::vector<std::string> all;
  for (const Diagnostic& warning : result.warnings) {
    all.push_back(to_string(warning));
  }
  return all;
}

KernelFile good(const std::string& text = kGood) {
  KernelFileResult result = parse_kernel_file(text, "k.cu");
  EXPECT_THAT(errors_of(text), IsEmpty());
  return result.kernel_file.value_or(KernelFile{});
}

TEST(KernelFile, ParsesParametersAndBuffers) {
  const Plan plan = good().plan;
  ASSERT_EQ(plan.parameters.size(), 3U);
  EXPECT_EQ(plan.parameters[0].name, "BLOCK");
  EXPECT_THAT(plan.parameters[0].values, ElementsAre(128, 256, 512));
  EXPECT_THAT(plan.parameters[2].values, ElementsAre(0, 1));
  EXPECT_EQ(plan.where.size(), 1U);
  EXPECT_EQ(plan.let[0].name, "parts");
  ASSERT_EQ(plan.scratch.size(), 2U);
  EXPECT_EQ(plan.scratch[0].count.expression.text(), "rows * parts");
  EXPECT_EQ(plan.scratch[1].dtype, DType::I32);
  EXPECT_EQ(plan.scratch[1].once, 0.0);
  EXPECT_EQ(plan.fast_math.expression.text(), "FAST");
}

TEST(KernelFile, ParsesFillAndCopy) {
  const Plan plan = good().plan;
  ASSERT_EQ(plan.launches.size(), 4U);
  const auto& fill = std::get<Fill>(plan.launches[0].what);
  EXPECT_EQ(fill.buffer.pick.at(0), "partial");
  EXPECT_EQ(fill.value, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(plan.launches[0].when.expression.text(), "parts > 1");
  const auto& copy = std::get<Copy>(plan.launches[1].what);
  EXPECT_EQ(copy.from.offset.expression.text(), "8");
  EXPECT_EQ(copy.rows.expression.text(), "2");
  EXPECT_TRUE(copy.to_stride.expression.empty());
}

TEST(KernelFile, ParsesKernelsAndRepeats) {
  const Plan plan = good().plan;
  const auto& kernel = std::get<KernelLaunch>(plan.launches[2].what);
  EXPECT_EQ(kernel.kernel, "row_softmax<{BLOCK}, {VEC}>");
  EXPECT_TRUE(kernel.cooperative);
  EXPECT_EQ(kernel.block.size(), 1U);
  ASSERT_EQ(kernel.arguments.size(), 10U);
  EXPECT_TRUE(std::holds_alternative<NullArgument>(kernel.arguments[2]));
  EXPECT_EQ(std::get<IntegerArgument>(kernel.arguments[4]).value.expression.text(), "3");
  EXPECT_EQ(std::get<IntegerArgument>(kernel.arguments[5]).value.expression.text(), "1");
  EXPECT_EQ(std::get<FloatArgument>(kernel.arguments[6]).value.expression.text(), "0.5");
  EXPECT_TRUE(std::holds_alternative<FloatArgument>(kernel.arguments[7]));
  EXPECT_EQ(std::get<BufferReference>(kernel.arguments[8]).pick.at(1), std::nullopt);
  EXPECT_EQ(std::get<BufferReference>(kernel.arguments[9]).offset.expression.text(), "cols");
  const auto& repeat = std::get<Repeat>(plan.launches[3].what);
  EXPECT_EQ(repeat.as, "t");
  EXPECT_EQ(repeat.let.at(0).name, "last");
  EXPECT_EQ(std::get<KernelLaunch>(repeat.body.at(0).what).grid.size(), 3U);
}

TEST(KernelFile, KeepsPositionsOfExpressions) {
  const Plan plan = good().plan;
  EXPECT_EQ(plan.where[0].at.line, 5);
  EXPECT_EQ(plan.where[0].at.column, 16);
  const auto& kernel = std::get<KernelLaunch>(plan.launches[2].what);
  EXPECT_EQ(kernel.grid[0].at.line, 14);
  EXPECT_EQ(kernel.grid[0].at.column, 17);
  EXPECT_EQ(plan.launches[2].at.line, 13);
  EXPECT_EQ(plan.launches[2].at.column, 5);
}

TEST(KernelFile, SourceKeepsItsLines) {
  const KernelFile file = good();
  EXPECT_EQ(file.text, kGood);
  EXPECT_EQ(std::count(file.source.begin(), file.source.end(), '\n'),
            std::count(file.text.begin(), file.text.end(), '\n'));
  EXPECT_THAT(file.source, testing::Not(HasSubstr("winnow")));
  EXPECT_THAT(file.source, testing::Not(HasSubstr("launches")));
  EXPECT_THAT(file.source,
              HasSubstr("\n/*#include <torch/extension.h>*/\n#include <cuda_runtime.h>\n"));
  EXPECT_THAT(warnings_of(kGood), ElementsAre("k.cu:23:1: the host-only header 'torch/extension.h' "
                                              "was left out; expected device code only"));
}

TEST(KernelFile, AByteOrderMarkIsNoCode) {
  const KernelFileResult result = parse_kernel_file("\xEF\xBB\xBF" + std::string(kGood), "k.cu");
  ASSERT_TRUE(result.kernel_file);
  EXPECT_EQ(result.kernel_file->text, kGood);
}

TEST(KernelFile, PlanMayFollowIncludes) {
  const std::string text =
      "#include <ATen/ATen.h> /* two\nlines */\n#include \"c10/util.h\"\n" +
      with_plan(R"({"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["y"]}]})");
  const KernelFile file = good(text);
  EXPECT_THAT(
      file.source,
      HasSubstr("/*#include <ATen/ATen.h>*/ /* two\nlines */\n/*#include \"c10/util.h\"*/\n"));
  EXPECT_THAT(file.source, HasSubstr("__global__ void k(float* y) {}"));
  EXPECT_THAT(file.source, testing::Not(HasSubstr("launches")));
}

TEST(KernelFile, StandardHeadersStay) {
  const std::string text =
      "#include <cmath>\n#include <vector>\n" +
      with_plan(R"({"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["y"]}]})");
  EXPECT_THAT(good(text).source, HasSubstr("#include <cmath>\n#include <vector>\n"));
  EXPECT_THAT(warnings_of(text), IsEmpty());
}

TEST(KernelFile, WarnsOfKernelsInNoLaunch) {
  const std::string plan =
      R"({"launches": [{"kernel": "ns::used<2>", "grid": 1, "block": 1, "args": []}]})";
  const std::string code =
      "// __global__ void commented() {}\n"
      "const char* s = \"__global__ void quoted() {}\";\n"
      "const char* r = R\"x(__global__ void raw() {} \" )x\";\n"
      "int separated = 1'000'000; char c = '\"';\n"
      "#define DEFINE(n) \\\n  __global__ void n() {}\n"
      "namespace ns { template <int N> __global__ void used() {} }\n"
      "extern \"C\" __global__ __launch_bounds__(128, 2) void lonely(int n) {}\n"
      "__global__ void lonely(int n);\n";
  EXPECT_THAT(warnings_of("/*@winnow" + plan + "@*/\n" + code),
              ElementsAre("k.cu:9:54: no launch uses kernel 'lonely'; expected a launch of the "
                          "kernel in the plan, or a file without the kernel"));
}

TEST(KernelFile, JoinedLinesAreOneLine) {
  const std::string plan =
      R"(/*@winnow {"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": []}]} @*/)";
  const std::string code = "\r\n#inc\\\r\nlude <torch/extension.h>\r\n"
                           "// a comment that goes on \\ \n__global__ void hidden() {}\n"
                           "#define DEFINE \\\n  __global__ void defined() {}\n"
                           "__global__ void k() {}\n/\\\n* __global__ void gone() {} */\n"
                           "__global__ void lonely() {}";
  EXPECT_THAT(warnings_of(plan + code),
              ElementsAre("k.cu:2:1: the host-only header 'torch/extension.h' was left out; "
                          "expected device code only",
                          "k.cu:11:17: no launch uses kernel 'lonely'; expected a launch of the "
                          "kernel in the plan, or a file without the kernel"));
  EXPECT_THAT(good(plan + code).source, HasSubstr("\n/*#inc\\\r\nlude <torch/extension.h>*/\r\n"));
}

TEST(KernelFile, NamesInMacrosAreNames) {
  const std::string plan =
      R"(/*@winnow {"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": []}]} @*/)";
  EXPECT_THAT(warnings_of(plan + "\n#define DEFINE __global__ void k() {}\nDEFINE"), IsEmpty());
  EXPECT_THAT(warnings_of(plan + "\n#define DEFINE(a) __global__ void a##k() {}\nDEFINE()"),
              IsEmpty());
}

TEST(KernelFile, WarnsOfCutOffCode) {
  const std::string plan =
      R"(/*@winnow {"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": []}]} @*/)";
  EXPECT_THAT(warnings_of(plan + "\n__global__ void k() { if (1) {\n"),
              ElementsAre("k.cu:3:1: 2 '{' without '}' at the end (is the file cut off?)"));
  EXPECT_THAT(warnings_of(plan + "\n__global__ void k() {} /* and"),
              ElementsAre("k.cu:2:24: a comment or string that never ends (is the file cut off?)"));
}

TEST(KernelFile, RefusesTextThatIsNoText) {
  EXPECT_EQ(errors_of(""),
            "k.cu: the kernel file is empty; expected a launch plan and device code\n");
  EXPECT_THAT(errors_of(" \n\t"), HasSubstr("the kernel file is empty"));
  EXPECT_THAT(errors_of(std::string("/*@\n") + '\0'), HasSubstr("k.cu:2:1: a NUL byte"));
  EXPECT_THAT(errors_of("int a;\n  \xff"), HasSubstr("k.cu:2:3: not valid UTF-8"));
  EXPECT_THAT(errors_of(std::string(64U << 20U, 'x')),
              HasSubstr("has 67108864 bytes; expected at most 1048576"));
}

TEST(KernelFile, RefusesPlansThatAreNoPlan) {
  EXPECT_THAT(errors_of("__global__ void k() {}"),
              HasSubstr("k.cu:1:1: the file has no launch plan; expected a comment /*@winnow"));
  EXPECT_THAT(errors_of("int a; /* never ends"),
              HasSubstr("k.cu:1:8: no launch plan before a comment"));
  EXPECT_THAT(errors_of("\n/*@winnow {\"launches\": ["),
              HasSubstr("k.cu:2:1: the launch plan is not closed"));
  EXPECT_THAT(errors_of("/*@winnow {} */ int a;"),
              HasSubstr("k.cu:1:1: the launch plan is not closed"));
  EXPECT_THAT(errors_of(with_plan("{}") + with_plan("{}")),
              HasSubstr("k.cu:3:1: a second launch plan"));
  EXPECT_THAT(errors_of("// /*@winnow {} @*/"), HasSubstr("no launch plan"));
}

TEST(KernelFile, KernelsOfPrepareAreLaunched) {
  const std::string plan = R"js(/*@winnow {"prepare": [{"kernel": "pack", "grid": 1, "block": 1,
      "args": []}], "launches": [{"kernel": "k", "grid": 1, "block": 1, "args": []}]} @*/)js";
  EXPECT_THAT(warnings_of(plan + "__global__ void k() {} __global__ void pack() {}"), IsEmpty());
  EXPECT_THAT(errors_of(plan + "__global__ void k() {}"), HasSubstr("defines no kernel 'pack'"));
}

TEST(KernelFile, SurvivesDeepNesting) {
  EXPECT_THAT(errors_of(with_plan(std::string(100000, '['))),
              HasSubstr("nested too deeply; expected at most 64 levels"));
  std::string objects;
  for (int i = 0; i < 50000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_THAT(errors_of(with_plan(objects)), HasSubstr("nested too deeply"));
}

TEST(KernelFile, ReportsSeveralMistakes) {
  const KernelFileResult result = parse_kernel_file(
      with_plan(R"({"let": {"a": "1 +", "b": "(2"}, "launch": [], "launches": [{"fill": "y"}]})"),
      "k.cu");
  EXPECT_EQ(result.errors.size(), 4U);
}

// Thousands of mistakes take no longer to report than twenty.
TEST(KernelFile, BoundsItsMessages) {
  constexpr int kMany = 4000;
  std::string launches, code, includes;
  for (int i = 0; i < kMany; ++i) {
    launches += std::string(i == 0 ? "" : ",") + R"({"kernel": "q)" + std::to_string(i) +
                R"(", "grid": [1], "block": [1], "args": []})";
    code += "__global__ void k" + std::to_string(i) + "() {}\n";
    includes += "#include <c10/x" + std::to_string(i) + ">\n";
  }
  const auto unknown =
      parse_kernel_file("/*@winnow {\"launches\": [" + launches + "]} @*/\n" + code, "k.cu");
  EXPECT_LE(unknown.errors.size(), 20U);
  EXPECT_THAT(unknown.errors.at(0).what, HasSubstr("defines no kernel 'q0'"));
  const auto unused = parse_kernel_file(
      "/*@winnow {\"launches\": [{\"kernel\": \"k0\", \"grid\": [1], \"block\": [1], "
      "\"args\": []}]} @*/\n" +
          includes + code,
      "k.cu");
  EXPECT_TRUE(unused.kernel_file);
  EXPECT_LE(unused.warnings.size(), 20U);
}

TEST(KernelFile, LoopNamesEndWithTheirLoop) {
  const std::string loop =
      R"({"repeat": 2, "as": "t", "let": {"u": "t + 1"}, "do": [{"kernel": "k", "grid": 1, "block": 1, "args": ["y"]}]})";
  good(with_launch(loop + "," + loop));
  const std::string nested = R"({"repeat": 2, "as": "t", "do": [)" + loop + "]}";
  EXPECT_THAT(errors_of(with_launch(nested)), HasSubstr("the name 't' is declared twice"));
}

} // namespace
} // namespace winnow::tasks
