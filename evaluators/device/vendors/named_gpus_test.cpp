#include "base/error.h"
#include "evaluators/device/vendors/named_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

TEST(NamedGpu, HasTheLimitsOfItsArchitectureAndTheNumbersOfItsModel) {
  const DeviceReport h200 = named_gpu("NVIDIA H200");
  EXPECT_EQ(h200.kind, "cuda");
  EXPECT_EQ(h200.facts.architecture, "sm_90a");
  EXPECT_EQ(h200.facts.sm_count, 132);
  EXPECT_EQ(h200.facts.l2_bytes, 62914560); // as the driver reports
  EXPECT_EQ(h200.facts.max_shared_bytes, 232448);
  EXPECT_TRUE(h200.facts.tensor_maps);
  EXPECT_EQ(named_gpu("h100 pcie").facts.sm_count, 114);
  EXPECT_FALSE(named_gpu("a100").facts.tensor_maps);
  EXPECT_EQ(named_gpu("MI300X").facts.warp_size, 64);
}

TEST(NamedGpu, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    named_gpu("H1000");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown GPU 'H1000'; did you mean 'H100'?"));
    EXPECT_THAT(error.remedy(), HasSubstr("B200"));
  }
  EXPECT_THROW(named_gpu(""), UsageError);
}

} // namespace
} // namespace winnow::evaluators
