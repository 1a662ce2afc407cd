#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Setting map_setting(const std::string& parameters = "o128:map p4f:y") {
  Setting setting = with_parameters(parameters);
  setting.facts = hopper_facts();
  return setting;
}

// A map m over x[4][1000] (f32) by its members, and a launch of k that takes it.
Outcome resolve_map(const std::string& members, const Setting& setting = map_setting()) {
  return resolve(R"js({"scratch": {"h": {"dtype": "bf16", "count": 4096},
                                   "b": {"dtype": "u8", "count": 4096}},
                      "tensor_maps": {"m": {)js" +
                     members +
                     R"js(}}, "launches": [{"kernel": "k", "grid": 1, "block": 32,
                      "args": [{"tensor_map": "m"}, "y"]}]})js",
                 setting);
}

const ResolvedTensorMap& map_of(const Outcome& outcome) {
  return *outcome.launch().arguments.at(0).tensor_map;
}

TEST(TensorMaps, AreArguments) {
  const Outcome outcome =
      resolve_map(R"js("tensor": "x", "extents": ["cols", "rows"], "box": [32, 2],
                       "swizzle": "128B", "l2_promotion": "128B", "fill": "nan")js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  const ResolvedArgument& argument = outcome.launch().arguments.at(0);
  EXPECT_EQ(argument.kind, ResolvedArgument::Kind::TensorMap);
  EXPECT_EQ(argument.size_bytes, 128);
  const ResolvedTensorMap& map = map_of(outcome);
  EXPECT_EQ(map.buffer, "x");
  EXPECT_EQ(map.dtype, DType::F32);
  EXPECT_EQ(map.offset_bytes, 0);
  EXPECT_THAT(map.extents, ElementsAre(1000, 4));
  EXPECT_THAT(map.strides_bytes, ElementsAre(4000)); // no gaps
  EXPECT_THAT(map.box, ElementsAre(32, 2));
  EXPECT_THAT(map.element_strides, ElementsAre(1, 1));
  EXPECT_EQ(map.options.swizzle, Swizzle::Bytes128);
  EXPECT_EQ(map.options.interleave, Interleave::None);
  EXPECT_EQ(map.options.l2_promotion, L2Promotion::Bytes128);
  EXPECT_EQ(map.options.fill, OutOfBoundsFill::NaN);
}

TEST(TensorMaps, MayViewAPartAsAnotherType) {
  const Outcome outcome =
      resolve_map(R"js("tensor": "b", "at": 64, "dtype": "bf16", "extents": [40, 3, 2],
                       "strides": [48, "8 * 100"], "box": [8, 3, 1], "element_strides": [1, 2, 8])js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  const ResolvedTensorMap& map = map_of(outcome);
  EXPECT_EQ(map.offset_bytes, 64);
  EXPECT_EQ(map.dtype, DType::BF16);
  EXPECT_THAT(map.strides_bytes, ElementsAre(96, 1600));
  EXPECT_THAT(map.element_strides, ElementsAre(1, 2, 8));
}

TEST(TensorMaps, MayBeInterleaved) {
  EXPECT_THAT(resolve_map(R"js("tensor": "h", "extents": [16, 8, 4], "box": [4, 8, 4],
                               "interleave": "16B", "swizzle": "64B")js")
                  .errors,
              IsEmpty());
  EXPECT_THAT(resolve_map(R"js("tensor": "h", "at": 16, "extents": [16, 8, 4], "box": [4, 8, 4],
                               "interleave": "32B", "swizzle": "32B")js")
                  .errors,
              IsEmpty());
}

TEST(TensorMaps, OfAnOutputWriteIt) {
  const Setting setting = map_setting("o128:map p4fc:x");
  EXPECT_THAT(
      resolve_map(R"js("tensor": "y", "extents": ["cols", "rows"], "box": [8, 2])js", setting)
          .errors,
      IsEmpty());
  EXPECT_THAT(
      resolve_map(R"js("tensor": "x", "extents": ["cols", "rows"], "box": [8, 2])js", setting)
          .error(),
      HasSubstr("output 'y' is bound only to pointers to const"));
}

TEST(TensorMaps, AreCheckedOnlyWhereUsed) {
  const std::string plan = R"js({
      "tensor_maps": {"m": {"tensor": "x", "extents": ["cols"], "box": ["cols"]}},
      "launches": [{"kernel": "k", "grid": 1, "block": 32, "when": "cols <= 256",
                    "args": [{"tensor_map": "m"}, "y"]},
                   {"fill": "y", "value": 0},
                   {"kernel": "k2", "grid": 1, "block": 32, "args": []}]})js";
  Setting setting = map_setting("");
  EXPECT_THAT(resolve(plan, setting).errors, IsEmpty());
  setting.shape = sample_shape(4, 256);
  setting.parameters = "o128:map p4f:y";
  EXPECT_THAT(resolve(plan, setting).error(), HasSubstr("kernel 'k2' has 2 parameters"));
}

TEST(TensorMaps, AreNotEverywhere) {
  Setting setting = map_setting();
  setting.facts.tensor_maps = false;
  const Outcome outcome = resolve_map(R"js("tensor": "x", "extents": [8], "box": [8])js", setting);
  EXPECT_THAT(outcome.error(),
              HasSubstr("tensor map 'm': this device has no tensor memory accelerator"));
  EXPECT_TRUE(all_unsupported(outcome.diagnostics));
}

struct TensorMapMistake {
  const char* members;
  const char* message;
};

class BadMap : public testing::TestWithParam<TensorMapMistake> {};

TEST_P(BadMap, IsExplained) {
  const Outcome outcome = resolve_map(GetParam().members);
  EXPECT_THAT(outcome.error(), HasSubstr(GetParam().message));
  EXPECT_FALSE(all_unsupported(outcome.diagnostics));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadMap,
    testing::Values(
        TensorMapMistake{R"js("tensor": "z", "extents": [8], "box": [8])js", "unknown buffer 'z'"},
        TensorMapMistake{R"js("tensor": "x", "extents": ["colz"], "box": [8])js",
                         "unknown name 'colz'"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["rows - 4"], "box": [8])js",
            "extents[0] of tensor map 'm' = rows - 4 = 0 for shape search/0 (rows=4); expected "
            "1 to 2^32 elements"},
        TensorMapMistake{R"js("tensor": "x", "extents": ["(1 << 32) + 1"], "box": [8])js",
                         "expected 1 to 2^32 elements"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["cols"], "box": ["cols"])js",
            "box[0] of tensor map 'm' = cols = 1000 for shape search/0 (cols=1000); expected 1 "
            "to 256 elements"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["cols"], "box": [8], "element_strides": [9])js",
            "element_strides[0] of tensor map 'm' = 9 for shape search/0; expected 1 to 8"},
        TensorMapMistake{R"js("tensor": "x", "extents": ["cols"], "box": [6])js",
                         "box[0] of tensor map 'm' is not a multiple of 16 bytes for shape "
                         "search/0: 6 elements of 4 bytes"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["cols"], "box": [64], "swizzle": "128B")js",
            "box[0] of tensor map 'm' is wider than the swizzle for shape search/0: 64 "
            "elements of 4 bytes; expected at most 128 bytes with \"swizzle\": \"128B\""},
        TensorMapMistake{
            R"js("tensor": "x", "at": 2, "extents": [8], "box": [8])js",
            "tensor map 'm' does not begin at a multiple of 16 bytes for shape search/0: \"at\" is "
            "byte 8 of 'x'"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["cols + 1", 2], "box": [8, 1])js",
            "strides[0] of tensor map 'm' is not a multiple of 16 bytes for shape search/0: 4004 "
            "bytes when packed; expected multiples of 16 bytes: pad the rows"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["cols", 2], "strides": [6], "box": [8, 1])js",
            "strides[0] of tensor map 'm' is not a multiple of 16 bytes for shape search/0: 24 "
            "bytes;"},
        TensorMapMistake{R"js("tensor": "x", "extents": [8, 2], "strides": [0], "box": [8, 1])js",
                         "strides[0] of tensor map 'm' = 0 for shape search/0"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": [8, 2], "strides": ["1 << 38"], "box": [8, 1])js",
            "strides[0] of tensor map 'm' is too large for shape search/0: 1099511627776 "
            "bytes; expected less than 2^40 bytes"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["1 << 32", "1 << 32", "1 << 32", "1 << 32", 1],
                     "box": [8, 1, 1, 1, 1])js",
            "strides[1] of tensor map 'm' is too large"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": ["cols", "rows + 1"], "box": [8, 1])js",
            "k.cu:3:39: tensor map 'm' does not fit its tensor 'x' for shape search/0: it "
            "reaches byte 20000 of 16000; expected extents, strides and \"at\" that stay "
            "inside the buffer"},
        TensorMapMistake{
            R"js("tensor": "x", "at": 4, "extents": ["cols", "rows"], "box": [8, 1])js",
            "it reaches byte 16016 of 16000"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": [8, 4], "strides": [1004], "box": [8, 1])js",
            "no error"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": [8, 4], "strides": [1332], "box": [8, 1])js",
            "it reaches byte 16016 of 16000"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": [8, "1 << 32"], "strides": ["(1 << 38) - 4"],
                     "box": [8, 1])js",
            "it reaches byte 2^63 of 16000"},
        TensorMapMistake{
            R"js("tensor": "x", "extents": [8, 2], "box": [8, 1], "interleave": "16B")js",
            "tensor map 'm' is interleaved and has 2 dimensions; expected at least 3"},
        TensorMapMistake{
            R"js("tensor": "h", "extents": [16, 2, 2], "box": [8, 1, 1], "interleave": "32B",
                     "swizzle": "64B")js",
            "interleaved by 32B but not swizzled by 32B"},
        TensorMapMistake{R"js("tensor": "h", "at": 8, "extents": [16, 2, 2], "box": [8, 1, 1],
                     "interleave": "32B", "swizzle": "32B")js",
                         "does not begin at a multiple of 32 bytes"},
        TensorMapMistake{
            R"js("tensor": "h", "extents": [24, 2, 2], "box": [8, 1, 1], "interleave": "32B",
                     "swizzle": "32B")js",
            "is not a multiple of 32 bytes"},
        TensorMapMistake{
            R"js("tensor": "b", "extents": [64], "box": [16], "fill": "nan")js",
            "tensor map 'm' of dtype u8 is filled with nan; expected \"fill\": \"zero\""},
        TensorMapMistake{R"js("tensor": "b", "dtype": "f8e4m3", "extents": [64], "box": [16],
                     "fill": "nan")js",
                         "of dtype f8e4m3 is filled with nan"}));

TEST(TensorMaps, OfHiddenShapesStayHidden) {
  const char* const maps[] = {R"js("tensor": "x", "extents": ["cols"], "box": ["cols"])js",
                              R"js("tensor": "x", "extents": ["cols", 2], "box": [8, 1])js",
                              R"js("tensor": "x", "at": "cols", "extents": [8], "box": [8])js",
                              R"js("tensor": "x", "extents": ["16 * rows * cols"], "box": [8])js",
                              R"js("tensor": "x", "extents": [8], "box": ["rows"])js"};
  for (const char* map : maps) {
    Setting setting = hidden_setting(37, 4099);
    setting.facts = hopper_facts();
    setting.parameters = "o128:map p4f:y";
    const std::string error = resolve_map(map, setting).error();
    EXPECT_THAT(error, HasSubstr("a hidden shape")) << map;
    EXPECT_THAT(error, Not(HasSubstr("37"))) << map;
    EXPECT_THAT(error, Not(HasSubstr("4099"))) << map;
    EXPECT_THAT(error, Not(HasSubstr("16396"))) << map; // 4 * 4099
  }
}

// Maps over layers of w[4][1000], used in a loop over the layers.
Outcome resolve_in_loop(const std::string& members, const std::string& loop = "2") {
  return resolve(R"js({"tensor_maps": {"m": {"extents": [64, 2], "box": [32, 1], )js" + members +
                     R"js(}, "same": {"tensor": "x", "extents": ["cols"], "box": [32]}},
      "launches": [{"repeat": )js" +
                     loop +
                     R"js(, "as": "i", "do": [{"kernel": "k", "grid": 1, "block": 32,
                     "args": [{"tensor_map": "m"}, {"tensor_map": "same"}, "y"]}]}]})js",
                 map_setting("o128:map o128:same p4f:y"));
}

TEST(TensorMaps, MayUseLoopVariables) {
  const Outcome outcome = resolve_in_loop(
      R"js("pick": ["w", "x"], "by": "i", "at": "i * 64", "strides": ["128 * (i + 1)"])js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  const auto& first = outcome.launch(0).arguments;
  const auto& second = outcome.launch(1).arguments;
  EXPECT_EQ(first[0].tensor_map->buffer, "w");
  EXPECT_EQ(second[0].tensor_map->buffer, "x");
  EXPECT_EQ(second[0].tensor_map->offset_bytes, 256);
  EXPECT_THAT(second[0].tensor_map->strides_bytes, ElementsAre(1024));
  EXPECT_EQ(first[1].tensor_map, second[1].tensor_map); // it does not depend on the loop
}

TEST(TensorMaps, AreCheckedInEveryTurn) {
  EXPECT_THAT(resolve_in_loop(R"js("tensor": "w", "at": "i * 1000")js", "4").errors, IsEmpty());
  EXPECT_THAT(resolve_in_loop(R"js("tensor": "w", "at": "i * 1000")js", "5").error(),
              HasSubstr("at = i * 1000 = 4000 for shape search/0 (i=4)"));
  EXPECT_THAT(resolve_in_loop(R"js("tensor": "w", "at": "j")js").error(),
              HasSubstr("unknown name 'j' in expression 'j'"));
  EXPECT_THAT(resolve_in_loop(R"js("pick": ["w", "idx"], "by": "i")js").error(),
              HasSubstr("tensor map 'm' picks from 'w' and 'idx', whose dtypes differ; expected "
                        "buffers of one dtype, or \"dtype\" in the tensor map"));
  EXPECT_THAT(resolve(R"js({"tensor_maps": {"m": {"tensor": "w", "at": "i", "extents": [64],
                            "box": [32]}}, "launches": [
                            {"repeat": 1, "as": "i", "do": [{"fill": "y", "value": 0}]},
                            {"kernel": "k", "grid": 1, "block": 32,
                             "args": [{"tensor_map": "m"}, "y"]}]})js",
                      map_setting())
                  .error(),
              HasSubstr("unknown name 'i' in expression 'i'"));
}

struct MapArgumentMistake {
  const char* args;
  const char* parameters;
  const char* message;
};

class BadMapArgument : public testing::TestWithParam<MapArgumentMistake> {};

TEST_P(BadMapArgument, IsExplained) {
  const std::string plan = R"js({"tensor_maps": {"m": {"tensor": "x", "extents": [8], "box": [8]}},
      "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": [)js";
  EXPECT_THAT(resolve(plan + GetParam().args + "]}]}", map_setting(GetParam().parameters)).error(),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadMapArgument,
    testing::Values(
        MapArgumentMistake{
            R"js({"tensor_map": "map"}, "y")js", "o128:map p4f:y",
            "unknown tensor map 'map'; known: m; expected a name of \"tensor_maps\""},
        MapArgumentMistake{
            R"js({"tensor_map": "m"}, "y")js", "p1c:map p4f:y",
            "parameter 1 'map' of kernel 'k' is const 1-byte*, but its argument is "
            "tensor map m; the parameters are (const 1-byte* map, float* y), the args "
            "(tensor map m, y); expected a parameter \"const __grid_constant__ "
            "CUtensorMap\": tensor maps go by value"},
        MapArgumentMistake{R"js({"tensor_map": "m"}, "y")js", "i4:map p4f:y",
                           "expected a parameter \"const __grid_constant__ CUtensorMap\""},
        MapArgumentMistake{R"js({"tensor_map": "m"}, "y")js", "o64:map p4f:y", "is 64-byte struct"},
        MapArgumentMistake{R"js("x", "y")js", "o128:map p4f:y",
                           "expected {\"tensor_map\": ...} for a CUtensorMap"}));

} // namespace
} // namespace winnow::tasks
