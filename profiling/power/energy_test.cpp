#include "profiling/power/energy.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

using testing::HasSubstr;

constexpr double kBegin = 10;

/// 1000 launches in one second, on a board whose counter moves every 100 ms.
EnergyReadings one_second() {
  EnergyReadings readings;
  readings.launches = 1000;
  readings.begin_s = kBegin;
  readings.end_s = kBegin + 1;
  return readings;
}

TEST(Energy, DividesWhatTheCounterMovedByTheLaunches) {
  EnergyReadings readings = one_second();
  readings.energy_mj = {{kBegin - 0.01, 5'000'000}, {kBegin + 1.01, 5'300'000}};
  const Energy energy = energy_of(readings);
  ASSERT_TRUE(energy.joules_per_launch) << energy.reason;
  EXPECT_NEAR(*energy.joules_per_launch, 0.3, 1e-9);
  EXPECT_NEAR(energy.average_power_w.value(), 300, 1e-6);
  EXPECT_EQ(energy.method, "NVML total energy over 1000 launches in 1.00 s");
  EXPECT_EQ(energy.reason, "");
}

// At 400 W the counter steps every 100 ms at 0.03, 0.13, ... and is read every 5 ms. The readings
// before and after differ by whole steps (10 or 11). Between the steps the slope is exact.
TEST(Energy, MeasuresBetweenTheStepsOfTheCounter) {
  EnergyReadings readings = one_second();
  for (int i = -1; i <= 201; ++i) {
    const double since = 0.005 * i;
    const double steps = std::floor((since - 0.028) / 0.1) + 1;
    readings.energy_mj.push_back({kBegin + since, 1e6 + 40'000 * steps});
  }
  const Energy energy = energy_of(readings);
  EXPECT_NEAR(energy.average_power_w.value(), 400, 0.01);
  EXPECT_NEAR(energy.joules_per_launch.value(), 0.4, 1e-5);
  EXPECT_THAT(energy.method, HasSubstr("between 10 steps of the counter"));
}

TEST(Energy, LeavesIdleReadingsBeforeTheLaunchesOut) {
  EnergyReadings readings = one_second();
  for (int i = -100; i <= 200; ++i) { // 100 W idle, 500 W under load; a step at every reading
    const double since = 0.005 * i;
    readings.energy_mj.push_back({kBegin + since, 1e6 + 1e3 * since * (since < 0 ? 100 : 500)});
  }
  EXPECT_NEAR(energy_of(readings).average_power_w.value(), 500, 0.01);
}

TEST(Energy, IntegratesPowerWhereTheCounterStandsStill) {
  EnergyReadings readings = one_second();
  readings.energy_mj = {{kBegin - 0.01, 7'000}, {kBegin + 1.01, 7'000}};
  for (int i = 0; i <= 50; ++i) { // a ramp from 200 to 300 W: trapezoids are exact
    readings.power_w.push_back({kBegin + 0.02 * i, 200 + 2.0 * i});
  }
  const Energy energy = energy_of(readings);
  EXPECT_NEAR(energy.average_power_w.value(), 250, 1e-6);
  EXPECT_NEAR(energy.joules_per_launch.value(), 0.25, 1e-9);
  EXPECT_EQ(energy.method, "integrated power (51 samples) over 1000 launches in 1.00 s");
}

TEST(Energy, WeighsUnevenSamplesByTheirTime) {
  EnergyReadings readings = one_second();
  readings.power_w = {{kBegin, 100},       {kBegin + 0.1, 100}, {kBegin + 0.2, 100},
                      {kBegin + 0.2, 300}, {kBegin + 1, 300},   {kBegin + 2, 9'000}};
  EXPECT_NEAR(energy_of(readings).average_power_w.value(), 0.2 * 100 + 0.8 * 300, 1e-6);
}

TEST(Energy, SaysWhyThereIsNone) {
  EnergyReadings readings = one_second();
  EXPECT_THAT(energy_of(readings).reason, HasSubstr("not read before and after"));
  EXPECT_THAT(energy_of(readings).reason, HasSubstr("power was not readable"));
  readings.energy_mj = {{kBegin - 1, 100}, {kBegin + 2, 100}};
  EXPECT_THAT(energy_of(readings).reason, HasSubstr("did not move in 1.00 s"));
  readings.energy_mj = {{kBegin - 1, 100}, {kBegin + 0.5, 300}, {kBegin + 2, 200}};
  EXPECT_THAT(energy_of(readings).reason, HasSubstr("went backwards"));
  readings.power_w = {{kBegin + 0.1, 200}};
  EXPECT_THAT(energy_of(readings).reason, HasSubstr("1 samples of power are too few"));
  EXPECT_FALSE(energy_of(readings).joules_per_launch);
  EXPECT_FALSE(energy_of(readings).average_power_w);
}

TEST(Energy, RefusesLaunchesThatAreTooShortForTheCounter) {
  EnergyReadings readings = one_second();
  readings.end_s = kBegin + 0.1;
  readings.energy_mj = {{kBegin - 0.01, 100}, {kBegin + 0.11, 300}};
  EXPECT_FALSE(energy_of(readings).joules_per_launch);
  EXPECT_THAT(energy_of(readings).reason, HasSubstr("lasted 0.100 s"));
  readings.launches = 0;
  EXPECT_EQ(energy_of(readings).reason, "nothing was launched");
}

TEST(Energy, DropsReadingsThatAreNoNumbers) {
  EnergyReadings readings = one_second();
  readings.energy_mj = {{kBegin - 0.01, 1'000},
                        {kBegin + 0.5, std::numeric_limits<double>::quiet_NaN()},
                        {kBegin + 1.01, 101'000}};
  EXPECT_NEAR(energy_of(readings).joules_per_launch.value(), 0.1, 1e-9);
}

TEST(Energy, IsNullInJsonWhereThereIsNone) {
  Energy energy;
  energy.reason = "power was not readable";
  const nlohmann::json json = energy;
  EXPECT_TRUE(json.at("joules_per_launch").is_null());
  EXPECT_EQ(json.get<Energy>().reason, energy.reason);
  energy = {0.25, 250, {}, "integrated power"};
  const Energy again = nlohmann::json(energy).get<Energy>();
  EXPECT_EQ(again.joules_per_launch, 0.25);
  EXPECT_EQ(again.average_power_w, 250);
  EXPECT_EQ(again.method, "integrated power");
}

} // namespace
} // namespace winnow::profiling
