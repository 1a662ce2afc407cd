#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

Plan plan_of(const std::string& text) {
  KernelFileResult result = parse_kernel_file(text, "k.cu");
  EXPECT_EQ(errors_of(text), "");
  return result.kernel_file ? std::move(result.kernel_file->plan) : Plan();
}

struct BadPlan {
  const char* json;
  const char* message;
};

class BadPlanJson : public testing::TestWithParam<BadPlan> {};

TEST_P(BadPlanJson, SaysWhereAndWhat) {
  EXPECT_THAT(errors_of(with_plan(GetParam().json)), HasSubstr(GetParam().message));
}

// The JSON begins at column 11 of line 1.
INSTANTIATE_TEST_SUITE_P(
    Json, BadPlanJson,
    testing::Values(
        BadPlan{"", "k.cu:1:12: in the launch plan: the JSON ends too early"},
        BadPlan{"{\"let\": {}", "the JSON ends too early; expected ',' or '}'"},
        BadPlan{"{\"let\": {},}",
                "k.cu:1:22: in the launch plan: unexpected '}'; expected no comma before '}'"},
        BadPlan{"{\"where\": [1,]}", "expected no comma before ']'"},
        BadPlan{"{} x", "k.cu:1:14: in the launch plan: text after the end of the JSON"},
        BadPlan{"{// c\n}", "k.cu:1:12: in the launch plan: a comment in the JSON"},
        BadPlan{"{'let': 1}", "expected a key in double quotes"},
        BadPlan{"{\"let\": 'x'}", "expected double quotes, not single ones"},
        BadPlan{"{\"let\" {}}",
                "k.cu:1:18: in the launch plan: unexpected '{'; expected ':' after \"let\""},
        BadPlan{"{\"let\": {}\n \"where\": []}",
                "k.cu:2:2: in the launch plan: unexpected '\"'; expected ',' or '}'"},
        BadPlan{"{\"let\": {}, \"let\": {}}",
                "k.cu:1:23: in the launch plan: the key 'let' appears twice"},
        BadPlan{"{\"let", "a string without its closing quote"},
        BadPlan{"{\"a\\x\": 1}", "expected one of \" \\ / b f n r t u"},
        BadPlan{"{\"\\ud800\": 1}", "half of a surrogate pair"},
        BadPlan{"{\"\\u12g4\": 1}", "four hexadecimal digits"},
        BadPlan{"{\"a\": 01}", "'01' is not a number"},
        BadPlan{"{\"a\": 1.}", "'1.' is not a number"},
        BadPlan{"{\"a\": -}", "'-' is not a number"},
        BadPlan{"{\"a\": 1e999}", "'1e999' is not a number"},
        BadPlan{"{\"a\": 99999999999999999999}", "is not a number that can be used"},
        BadPlan{"{\"a\": NaN}", "unexpected 'N'; expected a value"},
        BadPlan{"[]", "k.cu:1:11: the plan is a list; expected an object"}));

INSTANTIATE_TEST_SUITE_P(
    Plan, BadPlanJson,
    testing::Values(
        BadPlan{"{}", "k.cu:1:11: the plan has no \"launches\""},
        BadPlan{"{\"launches\": []}", "k.cu:1:24: \"launches\" is empty"},
        BadPlan{"{\"launch\": []}",
                "k.cu:1:12: unknown key 'launch' in the plan; did you mean 'launches'?"},
        BadPlan{"{\"prepare\": []}", "\"prepare\" is empty"},
        BadPlan{"{\"prepare\": 1}", "\"prepare\" is an integer; expected a list"},
        BadPlan{"{\"params\": {\"2x\": [1]}}", "'2x' is not a name for a parameter"},
        BadPlan{"{\"params\": {\"A\": []}}", "parameter 'A' has no values"},
        BadPlan{"{\"params\": {\"A\": [1, 1]}}", "k.cu:1:32: parameter 'A' lists 1 twice"},
        BadPlan{"{\"params\": {\"A\": [1.5]}}", "a value of parameter 'A' is a float"},
        BadPlan{"{\"params\": {\"A\": [1]}, \"let\": {\"A\": 1}}",
                "the name 'A' is declared twice"},
        BadPlan{"{\"params\": {\"TILE\": [1]}, \"where\": [\"TILES > 2\"]}",
                "k.cu:1:48: unknown name 'TILES' in \"where\"; did you mean 'TILE'?"},
        BadPlan{"{\"where\": [\"rows > 2\"]}", "names of params only"},
        BadPlan{"{\"compile\": {\"fast_maths\": true}}", "did you mean 'fast_math'?"},
        BadPlan{"{\"let\": {\"a\": \"b +\"}}",
                "k.cu:1:29: the expression ends too early in expression 'b +'"},
        BadPlan{"{\"let\": {\"a\": \"\\u0062 $\"}}", "k.cu:1:33: unexpected '$'"},
        BadPlan{"{\"let\": {\"a\": 1.5}}",
                "let 'a' is a float; expected an integer or an expression"},
        BadPlan{"{\"let\": {\"a\": {\"const\": 4}}}", "\"const\" is an integer; expected a string"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \"1\", \"at\": 2}}}",
                "unknown key 'at' in a device constant"},
        BadPlan{"{\"let\": {\"a\": {\"cons\": \"1\"}}}", "let 'a' is an object"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \" \"}}}",
                "k.cu:1:36: the device constant is empty; expected one constant expression"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \"1); asm(\"}}}",
                "the device constant has a character that is not allowed there"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \"1\\n#include <x>\"}}}",
                "has a character that is not allowed there"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \"1 /* \"}}}", "the device constant has a comment"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \"1) + (2\"}}}",
                "the brackets of the device constant do not match"},
        BadPlan{"{\"let\": {\"a\": {\"const\": \"f(1]\"}}}",
                "the brackets of the device constant do not match"},
        BadPlan{"{\"where\": [{\"const\": \"1\"}]}",
                "a condition of \"where\" is a device constant; expected a let binding"},
        BadPlan{"{\"let\": {\"a\": \"2 * resident_blocks\"}}",
                "k.cu:1:30: resident_blocks outside of a grid; expected resident_blocks in the "
                "\"grid\" of a kernel launch only"},
        BadPlan{"{\"let\": {\"resident_blocks\": 3}}", "the name 'resident_blocks' is reserved"},
        BadPlan{"{\"scratch\": {\"s\": {\"dtype\": \"f32\"}}}", "scratch 's' has no \"count\""},
        BadPlan{"{\"scratch\": {\"s\": {\"dtype\": \"float\", \"count\": 1}}}",
                "k.cu:1:40: unknown dtype 'float'"},
        BadPlan{"{\"scratch\": {\"s\": {\"dtype\": \"f32\", \"count\": 1, \"keep\": 1}}}",
                "\"keep\" is an integer; expected a boolean"},
        BadPlan{"{\"scratch\": {\"s\": {\"dtype\": \"f32\", \"count\": 1, \"keep\": true, "
                "\"once\": 0}}}",
                "scratch 's' has both \"once\" and \"keep\""},
        BadPlan{"{\"scratch\": {\"s\": {\"dtype\": \"f32\", \"count\": 1, \"once\": \"one\"}}}",
                "the fill value is not a constant"}));

class BadLaunch : public testing::TestWithParam<BadPlan> {};

TEST_P(BadLaunch, SaysWhereAndWhat) {
  EXPECT_THAT(errors_of(with_launch(GetParam().json)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Launches, BadLaunch,
    testing::Values(
        BadPlan{"1", "k.cu:1:25: an item of \"launches\" is an integer"},
        BadPlan{"{}", "k.cu:1:25: the launch has no kind"},
        BadPlan{"{\"kernel\": \"k\", \"fill\": \"y\"}", "the launch has the kinds kernel and fill"},
        BadPlan{"{\"kernel\": \"k\", \"block\": 1, \"args\": []}",
                "the launch of 'k' has no \"grid\""},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"args\": []}",
                "the launch of 'k' has no \"block\""},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1}",
                "the launch of 'k' has no \"args\""},
        BadPlan{"{\"kernel\": \"k\", \"grid\": [1,1,1,1], \"block\": 1, \"args\": []}",
                "\"grid\" has 4 dimensions"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": [1.5], \"block\": 1, \"args\": []}",
                "k.cu:1:50: grid[0] is a float"},
        BadPlan{"{\"kernel\": \" \", \"grid\": 1, \"block\": 1, \"args\": []}",
                "the kernel's name is empty"},
        BadPlan{"{\"kernel\": \"kk\", \"grid\": 1, \"block\": 1, \"args\": []}",
                "k.cu:1:25: the file defines no kernel 'kk'; did you mean 'k'?"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [], \"blocks\": 1}",
                "unknown key 'blocks' in a kernel launch; did you mean 'block'?"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [], \"cluster\": []}",
                "\"cluster\" has 0 dimensions; expected 1 to 3, x first"},
        BadPlan{
            "{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [], \"cluster\": \"2 +\"}",
            "the expression ends too early"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [], \"programmatic\": 1}",
                "\"programmatic\" is not supported yet"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": \"resident_blocks\", \"args\": []}",
                "resident_blocks outside of a grid"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [], \"cooperative\": 1}",
                "\"cooperative\" is an integer"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [[1]]}",
                "an argument is a list"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{}]}",
                "the argument has no value"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{\"flaot\": 1}]}",
                "unknown key 'flaot' in an argument"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{\"tensor_map\": 1}]}",
                "\"tensor_map\" is an integer; expected a string"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{\"tensor_map\": \"m\", "
                "\"at\": 1}]}",
                "unknown key 'at' in a tensor map argument"},
        BadPlan{
            "{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{\"pick\": [], \"by\": 0}]}",
            "\"pick\" is empty"},
        BadPlan{"{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{\"pick\": [\"y\"]}]}",
                "a \"pick\" has no \"by\""},
        BadPlan{
            "{\"kernel\": \"k\", \"grid\": 1, \"block\": 1, \"args\": [{\"tensor\": \"y + 1\"}]}",
            "'y + 1' is not the name of a buffer"},
        BadPlan{"{\"fill\": \"y\"}", "the fill has no \"value\""},
        BadPlan{"{\"fill\": \"y\", \"value\": \"zero\"}", "the fill value is not a constant"},
        BadPlan{"{\"fill\": {\"tensor\": \"y\", \"at\": 1}, \"at\": 2, \"value\": 0}",
                "the fill has \"at\" twice"},
        BadPlan{"{\"copy\": \"x\"}", "the copy has no \"to\""},
        BadPlan{"{\"copy\": \"x\", \"to\": \"y\", \"rows\": 2}", "a copy of rows has no \"count\""},
        BadPlan{"{\"copy\": \"x\", \"to\": \"y\", \"from_stride\": 2}",
                "a copy with strides has no \"rows\""},
        BadPlan{"{\"repeat\": 3}", "the repeat has no \"do\""},
        BadPlan{"{\"repeat\": 3, \"do\": []}", "\"do\" is empty"},
        BadPlan{"{\"repeat\": 3, \"as\": \"1t\", \"do\": []}",
                "'1t' is not a name for a loop variable"},
        BadPlan{"{\"repeat\": 3, \"while\": 1, \"do\": []}", "unknown key 'while' in a repeat"}));

// A plan with one tensor map, whose '{' is at column 32 of line 1.
class BadTensorMap : public testing::TestWithParam<BadPlan> {};

TEST_P(BadTensorMap, SaysWhereAndWhat) {
  const std::string map = GetParam().json;
  EXPECT_THAT(errors_of(with_plan("{\"tensor_maps\": {\"m\": " + map + "}}")),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    TensorMaps, BadTensorMap,
    testing::Values(
        BadPlan{"1", "k.cu:1:33: tensor map 'm' is an integer; expected an object"},
        BadPlan{"{\"extents\": [1], \"box\": [1]}", "tensor map 'm' has no \"tensor\""},
        BadPlan{"{\"tensor\": \"y\", \"box\": [1]}", "tensor map 'm' has no \"extents\""},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [1]}", "tensor map 'm' has no \"box\""},
        BadPlan{"{\"tensor\": \"y+1\", \"extents\": [1], \"box\": [1]}",
                "'y+1' is not the name of a buffer"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [1,1,1,1,1,1], \"box\": [1]}",
                "\"extents\" has 6 dimensions; expected 1 to 5, the innermost first"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [], \"box\": []}",
                "\"extents\" has 0 dimensions"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [8, 8], \"box\": [8]}",
                "\"box\" has 1 values; expected 2: one for each of \"extents\""},
        BadPlan{
            "{\"tensor\": \"y\", \"extents\": [8, 8], \"box\": [8, 8], \"strides\": [8, 64]}",
            "\"strides\" has 2 values; expected 1: one for each of \"extents\" but the innermost"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [8], \"box\": [8], \"element_strides\": [1, 1]}",
                "\"element_strides\" has 2 values"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [8], \"box\": [8], \"swizzle\": \"128\"}",
                "unknown swizzle '128'; expected one of none, 32B, 64B, 128B"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [8], \"box\": [8], \"fill\": 0}",
                "\"fill\" is an integer; expected a string"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [8], \"box\": [8], \"dtype\": \"half\"}",
                "unknown dtype 'half'"},
        BadPlan{"{\"tensor\": \"y\", \"extents\": [8], \"box\": [8], \"swizle\": \"32B\"}",
                "did you mean 'swizzle'?"}));

TEST(PlanParse, ParsesWhatDevicesMustBeAskedFor) {
  const std::string text = with_plan(R"js({
      "params": {"TILE": [64]},
      "let": {"smem": {"const": " sizeof(T<{TILE}>) "}},
      "scratch": {"w": {"dtype": "bf16", "count": 64, "keep": true}},
      "tensor_maps": {"m": {"tensor": "y", "extents": [64], "box": [8]}},
      "prepare": [{"fill": "w", "value": 1}],
      "launches": [{"kernel": "k", "grid": ["min(rows, resident_blocks)"], "block": 1,
                    "cluster": [2, 1], "args": ["y", {"tensor_map": "m"}]}]})js");
  const Plan plan = plan_of(text);
  EXPECT_EQ(plan.let.at(0).device_constant, "sizeof(T<{TILE}>)");
  EXPECT_TRUE(plan.let[0].value.expression.empty());
  EXPECT_TRUE(plan.scratch.at(0).keep);
  EXPECT_EQ(plan.prepare.size(), 1U);
  const auto& kernel = std::get<KernelLaunch>(plan.launches.at(0).what);
  EXPECT_EQ(kernel.cluster.size(), 2U);
  EXPECT_EQ(std::get<TensorMapArgument>(kernel.arguments.at(1)).map, "m");
}

TEST(PlanParse, ParsesTensorMaps) {
  const Plan plan = plan_of(with_plan(R"js({
      "tensor_maps": {
        "plain": {"tensor": "y", "extents": [64], "box": [8], "strides": []},
        "m": {"tensor": "y", "at": "8 * rows", "dtype": "bf16", "extents": ["cols", "rows"],
              "strides": ["2 * cols"], "box": ["cols", 8], "element_strides": [1, 2],
              "swizzle": "128B", "interleave": "16B", "l2_promotion": "256B", "fill": "nan"}},
      "launches": [{"fill": "y", "value": 0}]})js"));
  ASSERT_EQ(plan.tensor_maps.size(), 2U);
  const TensorMap& map = plan.tensor_maps[1];
  EXPECT_EQ(map.buffer.pick.at(0), "y");
  EXPECT_EQ(map.buffer.offset.expression.text(), "8 * rows");
  EXPECT_EQ(map.dtype, DType::BF16);
  EXPECT_EQ(map.extents.at(1).expression.text(), "rows");
  EXPECT_EQ(map.strides.at(0).expression.text(), "2 * cols");
  EXPECT_EQ(map.box.size(), 2U);
  EXPECT_EQ(map.element_strides.size(), 2U);
  EXPECT_EQ(map.options.swizzle, Swizzle::Bytes128);
  EXPECT_EQ(map.options.interleave, Interleave::Bytes16);
  EXPECT_EQ(map.options.l2_promotion, L2Promotion::Bytes256);
  EXPECT_EQ(map.options.fill, OutOfBoundsFill::NaN);
  EXPECT_EQ(plan.tensor_maps[0].dtype, std::nullopt);
  EXPECT_EQ(plan.tensor_maps[0].options.swizzle, Swizzle::None);
}

} // namespace
} // namespace winnow::tasks
