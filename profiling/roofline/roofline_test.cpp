#include "profiling/roofline/roofline.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// 4 TB/s from DRAM, 8 TB/s from L2, 800 Tflop/s: the ridge of cold data lies at 200 op/byte.
Ceilings device() {
  Ceilings ceilings;
  ceilings.bandwidth = {{1e6, 8e12, "L2"}, {2e7, 8e12, "L2"}, {2e8, 4e12, "DRAM"}};
  ceilings.rates = {{"f16_tensor", 8e14}, {"f32", 5e13}};
  ceilings.no_rate = {{"f8_tensor", "the compiler refuses it"}};
  return ceilings;
}

SpeedOfLight speed(const Work& work, double time_ns) {
  const SpeedOfLightResult result = speed_of_light(work, time_ns, device());
  EXPECT_TRUE(result.value) << result.reason;
  return result.value.value_or(SpeedOfLight{});
}

std::string reason(const Work& work, double time_ns, const Ceilings& ceilings = device()) {
  const SpeedOfLightResult result = speed_of_light(work, time_ns, ceilings);
  EXPECT_FALSE(result.value);
  return result.reason;
}

TEST(SpeedOfLight, OfAColdCopyIsDramBandwidth) {
  const SpeedOfLight copy = speed({4e8, 0, "", 4e8, false}, 200'000);
  EXPECT_DOUBLE_EQ(copy.floor_ns, 100'000);
  EXPECT_DOUBLE_EQ(copy.fraction, 0.5);
  EXPECT_EQ(copy.bound, "DRAM bandwidth");
  EXPECT_TRUE(copy.by_bytes);
  EXPECT_EQ(copy.intensity, 0);
  EXPECT_FALSE(copy.ridge);
  EXPECT_THAT(copy.note, IsEmpty());
}

TEST(SpeedOfLight, OfASmallColdCopyIsStillDramBandwidth) {
  EXPECT_EQ(speed({4e6, 0, "", 4e6, false}, 10'000).bound, "DRAM bandwidth");
}

TEST(SpeedOfLight, OfAWarmCopyThatFitsIsL2Bandwidth) {
  const SpeedOfLight copy = speed({8e6, 0, "", 8e6, true}, 2'000);
  EXPECT_EQ(copy.bound, "L2 bandwidth");
  EXPECT_NEAR(copy.floor_ns, 1000, 1e-6);
  EXPECT_EQ(speed({8e8, 0, "", 8e8, true}, 1e6).bound, "DRAM bandwidth");
}

TEST(SpeedOfLight, GoesByTheWorkingSetNotByTheBytes) {
  EXPECT_EQ(speed({8e6, 0, "", 8e8, true}, 2'000).bound, "DRAM bandwidth");
  EXPECT_EQ(speed({8e6, 0, "", 0, true}, 2'000).bound, "L2 bandwidth");
}

TEST(SpeedOfLight, OfALargeGemmIsTheTensorRate) {
  const double n = 8192;
  const SpeedOfLight gemm = speed({3 * n * n * 2, 2 * n * n * n, "f16_tensor", 0, false}, 2e6);
  EXPECT_EQ(gemm.bound, "f16_tensor rate");
  EXPECT_FALSE(gemm.by_bytes);
  EXPECT_NEAR(gemm.floor_ns, 2 * n * n * n / 8e14 * 1e9, 1e-3);
  EXPECT_NEAR(gemm.fraction, gemm.floor_ns / 2e6, 1e-12);
  EXPECT_NEAR(gemm.intensity.value(), n / 3, 1e-9);
  EXPECT_DOUBLE_EQ(gemm.ridge.value(), 200);
}

TEST(SpeedOfLight, ChangesItsBoundAtTheRidge) {
  EXPECT_TRUE(speed({1e8, 199e8, "f16_tensor", 0, false}, 1e6).by_bytes);
  EXPECT_FALSE(speed({1e8, 201e8, "f16_tensor", 0, false}, 1e6).by_bytes);
}

TEST(SpeedOfLight, OverOneComesWithANote) {
  const SpeedOfLight copy = speed({4e8, 0, "", 0, false}, 80'000);
  EXPECT_DOUBLE_EQ(copy.fraction, 1.25);
  EXPECT_THAT(copy.note, HasSubstr("fewer bytes"));
  EXPECT_THAT(speed({1, 8e12, "f16_tensor", 0, false}, 1e6).note, HasSubstr("fewer operations"));
}

TEST(SpeedOfLight, IsNothingWithoutTheCeilingsItNeeds) {
  EXPECT_EQ(reason({1e8, 1e9, "f8_tensor", 0, false}, 1e6),
            "the rate of f8_tensor was not measured: the compiler refuses it");
  EXPECT_EQ(reason({1e8, 1e9, "i8_tensor", 0, false}, 1e6),
            "the rate of i8_tensor was not measured");
  Ceilings only_l2 = device();
  only_l2.bandwidth.pop_back();
  EXPECT_EQ(reason({1e8, 0, "", 0, false}, 1e6, only_l2), "the bandwidth of DRAM was not measured");
  EXPECT_EQ(reason({1e8, 0, "", 0, true}, 1e6, Ceilings{}), "no bandwidth was measured");
}

TEST(SpeedOfLight, IsNothingWithoutWorkOrTime) {
  EXPECT_THAT(reason({0, 0, "", 0, false}, 1e6), HasSubstr("no model"));
  EXPECT_THAT(reason({0, 1e9, "", 0, false}, 1e6), HasSubstr("no model"));
  EXPECT_THAT(reason({std::nan(""), 0, "", 0, false}, 1e6), HasSubstr("no number"));
  EXPECT_THAT(reason({-1, 0, "", 0, false}, 1e6), HasSubstr("no number"));
  EXPECT_EQ(reason({1e8, 0, "", 0, false}, 0), "there is no time");
  EXPECT_EQ(reason({1e8, 0, "", 0, false}, std::nan("")), "there is no time");
}

TEST(SpeedOfLight, SurvivesJson) {
  const SpeedOfLight gemm = speed({1e8, 1e12, "f16_tensor", 0, false}, 2e6);
  const nlohmann::json json = gemm;
  EXPECT_EQ(nlohmann::json(json.get<SpeedOfLight>()), json);
  EXPECT_TRUE(nlohmann::json(speed({1e8, 0, "", 0, false}, 1e6)).at("ridge").is_null());
}

} // namespace
} // namespace winnow::profiling
