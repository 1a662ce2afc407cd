#include "profiling/roofline/roofline.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A device: a copy reaches 4 TB/s of DRAM, f16 tensor cores 800 Tflop/s; an empty launch takes 2
// us.
Ceilings device() {
  Ceilings ceilings;
  ceilings.bandwidth = {{1e6, 8e12, "L2"}, {2e8, 4e12, "DRAM"}};
  ceilings.rates = {{"f16_tensor", 8e14}};
  ceilings.launch_overhead_ns = 2000;
  return ceilings;
}

// 200 MB are read and 200 MB written at a peak of 5 TB/s. 60 MB of the output stay in a cache.
const Work kCopy{4e8, 1e8, "f32"};
const PhysicalFloor kCopyFloor{68e3, 1e3, 340e6, "DRAM's peak", "a peak"};

SpeedOfLight speed(const Work& work, const PhysicalFloor& floor, double time_ns) {
  const SpeedOfLightResult result = speed_of_light(work, floor, time_ns, device());
  EXPECT_TRUE(result.value) << result.reason;
  return result.value.value_or(SpeedOfLight{});
}

std::string reason(const Work& work, const PhysicalFloor& floor, double time_ns) {
  const SpeedOfLightResult result = speed_of_light(work, floor, time_ns, device());
  EXPECT_FALSE(result.value);
  return result.reason;
}

TEST(SpeedOfLight, IsTheFloorAndAnEmptyLaunch) {
  const SpeedOfLight copy = speed(kCopy, kCopyFloor, 140e3);
  EXPECT_DOUBLE_EQ(copy.least_ns, 70e3);
  EXPECT_DOUBLE_EQ(copy.fraction, 0.5);
  EXPECT_EQ(copy.bound, "DRAM's peak");
  EXPECT_DOUBLE_EQ(copy.rate, 5e12);
  EXPECT_THAT(copy.note, IsEmpty());
}

// A kernel reached 106 % of a copy's bandwidth (G9). The peak is above the bandwidth of a copy.
TEST(SpeedOfLight, IsNotPassedByAKernelThatIsFasterThanACopy) {
  const SpeedOfLight fast = speed(kCopy, kCopyFloor, 96e3);
  EXPECT_GT(fast.copy_ns.value(), 96e3);
  EXPECT_LT(fast.fraction, 1);
}

TEST(SpeedOfLight, NamesItsBaseTheBytesThatCountAndWhatWasMeasured) {
  const SpeedOfLight copy = speed(kCopy, kCopyFloor, 140e3);
  EXPECT_EQ(share_text(copy), "50 % of the speed of light (DRAM's peak, 5.00 TB/s)");
  EXPECT_EQ(least_time_text(copy), "70.0 us: 340 MB of 400 MB at DRAM's peak, the rest may stay in "
                                   "L2; an empty launch of 2.00 us");
  EXPECT_EQ(measured_text(copy),
            "a plain copy of the same 400 MB (DRAM) takes 102 us, an empty launch 2.00 us");
}

TEST(SpeedOfLight, ComparesWithACopyFromWhereTheBytesAre) {
  Work work{1e6, 0, ""};
  EXPECT_DOUBLE_EQ(speed(work, kCopyFloor, 140e3).copy_ns.value(), 250 + 2000);
  work.cold = false;
  EXPECT_DOUBLE_EQ(speed(work, kCopyFloor, 140e3).copy_ns.value(), 125 + 2000);
  EXPECT_EQ(speed(work, kCopyFloor, 140e3).copy_level, "L2");
}

TEST(SpeedOfLight, OfALargeGemmIsTheTensorPeak) {
  const double n = 8192;
  const Work work{3 * n * n * 2, 2 * n * n * n, "f16_tensor"};
  const SpeedOfLight gemm =
      speed(work, {80e3, 1.1e6, work.bytes, "DRAM's peak", "16-bit tensor peak"}, 2e6);
  EXPECT_FALSE(gemm.by_bytes);
  EXPECT_EQ(share_text(gemm), "55 % of the speed of light (16-bit tensor peak, 1e+03 Top/s)");
  EXPECT_EQ(least_time_text(gemm), "1.10 ms: 1.1e+12 operations at 16-bit tensor peak; an "
                                   "empty launch of 2.00 us");
  EXPECT_THAT(measured_text(gemm), HasSubstr("the operations at the measured f16_tensor rate 1.38 "
                                             "ms"));
}

TEST(SpeedOfLight, OfATinyKernelIsAnEmptyLaunch) {
  const SpeedOfLight tiny = speed({1e3, 0, ""}, {1, 0, 1e3, "DRAM's peak", "a peak"}, 2500);
  EXPECT_EQ(share_text(tiny), "80 % of the speed of light (an empty launch)");
  EXPECT_EQ(least_time_text(tiny), "2.00 us: 1.00 kB; an empty launch of 2.00 us");
}

TEST(SpeedOfLight, OverOneComesWithANote) {
  EXPECT_THAT(speed(kCopy, kCopyFloor, 69e3).note, HasSubstr("less than the least time"));
}

TEST(SpeedOfLight, NeedsNoMeasurement) {
  const SpeedOfLightResult alone = speed_of_light(kCopy, kCopyFloor, 136e3, {});
  ASSERT_TRUE(alone.value);
  EXPECT_DOUBLE_EQ(alone.value->fraction, 0.5);
  EXPECT_EQ(measured_text(*alone.value), "");
}

TEST(SpeedOfLight, IsNothingWithoutWorkOrTime) {
  EXPECT_THAT(reason({}, {}, 1e6), HasSubstr("no model"));
  EXPECT_THAT(reason({std::nan(""), 0, ""}, {}, 1e6), HasSubstr("no number"));
  EXPECT_THAT(reason({-1, 0, ""}, {}, 1e6), HasSubstr("no number"));
  EXPECT_EQ(reason(kCopy, kCopyFloor, 0), "there is no measured time");
  EXPECT_EQ(reason(kCopy, kCopyFloor, std::nan("")), "there is no measured time");
}

TEST(SpeedOfLight, SurvivesJson) {
  const nlohmann::json json = speed(kCopy, kCopyFloor, 2e6);
  EXPECT_EQ(nlohmann::json(json.get<SpeedOfLight>()), json);
  EXPECT_TRUE(json.at("rate_ns").is_null());
}

} // namespace
} // namespace winnow::profiling
