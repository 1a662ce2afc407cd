#include "base/error.h"
#include "evaluators/device/gpu/gpu_probe.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

GpuProbe some_probe() {
  GpuProbe probe;
  probe.ordinal = 3;
  probe.name = "NVIDIA H200";
  probe.uuid = "GPU-00000000-0000-0000-0000-000000000003";
  probe.pci_bus_id = "0000:17:00.0";
  probe.driver = "CUDA 13.0";
  probe.availability = Availability::yes("found");
  probe.facts.architecture = "sm_90a";
  probe.facts.sm_count = 132;
  probe.facts.tensor_maps = true;
  probe.facts.cooperative = false;
  probe.facts.memory_bytes = std::int64_t{35} << 30U;
  probe.facts.peak_bytes_per_second = 4.8e12;
  return probe;
}

TEST(GpuProbe, TravelsAsJson) {
  const nlohmann::json json = some_probe();
  const auto again = nlohmann::json::parse(json.dump()).get<GpuProbe>();
  EXPECT_EQ(nlohmann::json(again), json);
  EXPECT_EQ(again.ordinal, 3);
  EXPECT_EQ(again.name, "NVIDIA H200");
  EXPECT_EQ(again.pci_bus_id, "0000:17:00.0");
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
TEST(GpuProbe, NeedsEveryFact) {
  const nlohmann::json whole = some_probe();
  ASSERT_EQ(whole.at("facts").size(), 25U);
  for (const auto& [name, value] : whole.at("facts").items()) {
    nlohmann::json part = whole;
    part["facts"].erase(name);
    EXPECT_THROW(part.get<GpuProbe>(), Error) << name;
  }
}

} // namespace
} // namespace winnow::evaluators
