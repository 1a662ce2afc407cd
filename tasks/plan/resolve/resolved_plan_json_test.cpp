#include "base/error.h"
#include "tasks/plan/plan_test_support.h"
#include "tasks/plan/resolve/resolved_plan_json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

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
  EXPECT_EQ(nlohmann::json::parse(json_text(copy)), json);
  EXPECT_EQ(std::get<FillStep>(copy.steps[0]).value, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(std::get<FillStep>(copy.steps[1]).value));
  EXPECT_EQ(std::get<LaunchStep>(copy.steps[3]).arguments[1].offset_bytes, 20);
  EXPECT_EQ(std::get<LaunchStep>(copy.steps[3]).arguments[3].real,
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(copy.buffers.back().once, 0.0);
}

TEST(ResolvedPlanJson, KeepsTheHashOfRowPointers) {
  ResolvedPlan plan;
  plan.buffers.emplace_back().generator.csr = {3, 5, std::numeric_limits<std::uint64_t>::max()};
  const auto copy = nlohmann::json::parse(json_text(plan)).get<ResolvedPlan>();
  EXPECT_EQ(copy.buffers.at(0).generator.csr.columns, 5U);
  EXPECT_EQ(copy.buffers[0].generator.csr.pointers_hash, std::numeric_limits<std::uint64_t>::max());
}

// A plan that prepares p, then runs k in clusters on a tensor map of p.
Outcome device_plan() {
  Setting setting = with_parameters("o128:map p4f:y");
  setting.facts = hopper_facts();
  return resolve(R"js({"scratch": {"p": {"dtype": "f32", "count": 4096, "keep": true}},
      "tensor_maps": {
        "in": {"tensor": "p", "at": 8, "dtype": "bf16", "extents": [64, 4, 2], "box": [16, 2, 1],
              "strides": [64, 512], "element_strides": [1, 2, 1], "interleave": "16B",
              "l2_promotion": "256B", "swizzle": "32B", "fill": "nan"},
        "w_map": {"tensor": "w", "extents": [8], "box": [4]}},
      "prepare": [{"kernel": "k", "grid": 1, "block": 1, "args": [{"tensor_map": "w_map"}, "p"]}],
      "launches": [{"kernel": "k", "grid": [4, 2], "block": 32, "cluster": [2, 2],
                    "args": [{"tensor_map": "in"}, "y"]}]})js",
                 setting);
}

TEST(ResolvedPlanJson, RoundTripsWhatDevicesMustBeAskedFor) {
  const Outcome outcome = device_plan();
  ASSERT_TRUE(outcome.plan) << outcome.error();
  const nlohmann::json json = nlohmann::json::parse(nlohmann::json(*outcome.plan).dump());
  const auto copy = json.get<ResolvedPlan>();
  EXPECT_EQ(nlohmann::json(copy), json);
  EXPECT_EQ(nlohmann::json::parse(json_text(copy)), json);
  EXPECT_TRUE(copy.buffers.back().keep);
  EXPECT_FALSE(copy.buffers.front().keep);
  ASSERT_EQ(copy.prepare.size(), 1U);
  EXPECT_EQ(std::get<LaunchStep>(copy.prepare[0]).arguments.at(0).tensor_map->buffer, "w");
  const auto& launch = std::get<LaunchStep>(copy.steps.at(0));
  EXPECT_THAT(launch.cluster, testing::ElementsAre(2, 2, 1));
  EXPECT_EQ(launch.arguments.at(0).kind, ResolvedArgument::Kind::TensorMap);
  const ResolvedTensorMap& map = *launch.arguments[0].tensor_map;
  EXPECT_EQ(map.offset_bytes, 32);
  EXPECT_EQ(map.dtype, DType::BF16);
  EXPECT_THAT(map.extents, testing::ElementsAre(64, 4, 2));
  EXPECT_THAT(map.strides_bytes, testing::ElementsAre(128, 1024));
  EXPECT_THAT(map.box, testing::ElementsAre(16, 2, 1));
  EXPECT_THAT(map.element_strides, testing::ElementsAre(1, 2, 1));
  EXPECT_EQ(map.options.swizzle, Swizzle::Bytes32);
  EXPECT_EQ(map.options.interleave, Interleave::Bytes16);
  EXPECT_EQ(map.options.l2_promotion, L2Promotion::Bytes256);
  EXPECT_EQ(map.options.fill, OutOfBoundsFill::NaN);
}

TEST(ResolvedPlanJson, RefusesBadTensorMaps) {
  const nlohmann::json good = device_plan().plan.value();
  const nlohmann::json::json_pointer map("/steps/0/value/arguments/0/tensor_map");
  const std::vector<std::pair<const char*, nlohmann::json>> changes{
      {"swizzle", 16},
      {"interleave", 64},
      {"l2_promotion", 32},
      {"fill", 2},
      {"dtype", 0},
      {"extents", {1, 2}},
      {"box", nlohmann::json()},
      {"strides_bytes", {16}},
      {"element_strides", {1, 1, 1, 1}}};
  for (const auto& [key, value] : changes) {
    nlohmann::json bad = good;
    nlohmann::json& fields = bad[map];
    (fields["options"].contains(key) ? fields["options"] : fields)[key] = value;
    EXPECT_THROW(bad.get<ResolvedPlan>(), Error) << key;
  }
  nlohmann::json bad = good;
  bad[map] = nullptr;
  EXPECT_THROW(bad.get<ResolvedPlan>(), Error);
}

TEST(ResolvedPlanJson, RefusesNonsense) {
  const Outcome outcome = resolve_launch(R"js("grid": 1, "block": 1, "args": ["x", "y"])js");
  const nlohmann::json good = *outcome.plan;
  nlohmann::json bad = good;
  bad["buffers"][0]["dtype"] = 99;
  EXPECT_THROW(bad.get<ResolvedPlan>(), Error);
  bad = good;
  bad["buffers"][0].erase("count");
  EXPECT_THROW(bad.get<ResolvedPlan>(), Error);
  bad = good;
  bad["steps"][0]["value"]["grid"] = nlohmann::json::array({1});
  EXPECT_THROW(bad.get<ResolvedPlan>(), Error);
}

} // namespace
} // namespace winnow::tasks
