#include "base/error.h"
#include "evaluators/device/device_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

DeviceReport some_report() {
  DeviceReport report;
  report.kind = "cuda";
  report.id = "cuda:3";
  report.name = "NVIDIA H200";
  report.uuid = "GPU-00000000-0000-0000-0000-000000000003";
  report.driver = "CUDA 13.0";
  report.availability = Availability::yes("found");
  report.facts.architecture = "sm_90a";
  report.facts.sm_count = 132;
  report.facts.tensor_maps = true;
  report.facts.cooperative = false;
  report.facts.memory_bytes = std::int64_t{35} << 30U;
  report.facts.peak_bytes_per_second = 4.8e12;
  return report;
}

TEST(DeviceReport, TravelsAsJson) {
  const nlohmann::json json = some_report();
  const auto again = nlohmann::json::parse(json.dump()).get<DeviceReport>();
  EXPECT_EQ(nlohmann::json(again), json);
  EXPECT_EQ(again.kind, "cuda");
  EXPECT_EQ(again.id, "cuda:3");
  EXPECT_EQ(again.name, "NVIDIA H200");
  EXPECT_EQ(again.driver, "CUDA 13.0");
  EXPECT_TRUE(again.availability.ok);
  EXPECT_EQ(again.facts.architecture, "sm_90a");
  EXPECT_EQ(again.facts.sm_count, 132);
  EXPECT_TRUE(again.facts.tensor_maps);
  EXPECT_FALSE(again.facts.cooperative);
  EXPECT_EQ(again.facts.memory_bytes, std::int64_t{35} << 30U);
  EXPECT_EQ(again.facts.peak_bytes_per_second, 4.8e12);
}

// Reading fails if any fact is missing.
TEST(DeviceReport, NeedsEveryFact) {
  const nlohmann::json whole = some_report();
  ASSERT_EQ(whole.at("facts").size(), 25U);
  for (const auto& [name, value] : whole.at("facts").items()) {
    nlohmann::json part = whole;
    part["facts"].erase(name);
    EXPECT_THROW(part.get<DeviceReport>(), Error) << name;
  }
}

} // namespace
} // namespace winnow::evaluators
