#include "profiling/host_info.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

TEST(HostInfo, NamesTheMachine) {
  const HostInfo& host = host_info();
  EXPECT_FALSE(host.cpu_model.empty());
  EXPECT_GE(host.cores, 1U);
  EXPECT_EQ(host.kernel.rfind("Linux ", 0), 0U);
  EXPECT_GT(host.memory_gib, 0.1);
  EXPECT_EQ(nlohmann::json(host).at("cores"), host.cores);
}

} // namespace
} // namespace winnow::profiling
