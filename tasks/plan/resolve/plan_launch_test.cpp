#include "tasks/plan/plan_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Setting hopper(int registers = 32, int static_shared_bytes = 0) {
  Setting setting;
  setting.facts = hopper_facts();
  setting.resources = KernelResources{};
  setting.resources->registers = registers;
  setting.resources->static_shared_bytes = static_shared_bytes;
  return setting;
}

TEST(PlanLaunch, HasACluster) {
  const Outcome outcome = resolve_launch(
      R"js("grid": [12, 4], "cluster": ["rows / 2", 2], "block": 32, "args": ["x", "y"])js",
      hopper());
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.launch().cluster, ElementsAre(2, 2, 1));
}

TEST(PlanLaunch, AClusterOfOneIsNone) {
  const Outcome outcome =
      resolve_launch(R"js("grid": 3, "cluster": [1, 1], "block": 32, "args": ["x", "y"])js");
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.launch().cluster, ElementsAre(1, 1, 1));
}

TEST(PlanLaunch, ResidentBlocksAreTheDevices) {
  const std::string launch =
      R"js("grid": ["min(100000, resident_blocks)"], "block": 256, "cooperative": true,
           "args": ["x", "y"])js";
  EXPECT_THAT(resolve_launch(launch, hopper()).launch().grid, ElementsAre(132 * 8, 1, 1));
  EXPECT_THAT(resolve_launch(launch, hopper(64)).launch().grid, ElementsAre(132 * 4, 1, 1));
  const std::string shared = launch + R"js(, "shared_bytes": 102400)js";
  EXPECT_THAT(resolve_launch(shared, hopper()).launch().grid, ElementsAre(132 * 2, 1, 1));
}

TEST(PlanLaunch, ResidentBlocksAreOneAMultiprocessorWhereTheDeviceDoesNotSay) {
  Setting setting;
  setting.facts.sm_count = 6;
  EXPECT_THAT(
      resolve_launch(R"js("grid": "resident_blocks", "block": 1, "args": ["x", "y"])js", setting)
          .launch()
          .grid,
      ElementsAre(6, 1, 1));
}

TEST(PlanLaunch, ResidentBlocksMayBeUsedBeforeCompiling) {
  std::vector<std::string> errors;
  EXPECT_THAT(names_of(R"js({"launches": [{"kernel": "k<{rows}>", "grid": ["resident_blocks - 1"],
                       "block": 1, "args": ["x", "y"]}]})js",
                       hopper(), errors),
              ElementsAre("k<4>"));
  EXPECT_THAT(errors, IsEmpty());
}

struct LaunchMemberMistake {
  const char* members;
  const char* message;
};

class BadLaunchOnHopper : public testing::TestWithParam<LaunchMemberMistake> {};

TEST_P(BadLaunchOnHopper, IsExplained) {
  const Outcome outcome = resolve_launch(GetParam().members, hopper(96, 40000));
  EXPECT_THAT(outcome.error(), HasSubstr(GetParam().message));
  EXPECT_FALSE(all_unsupported(outcome.diagnostics));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BadLaunchOnHopper,
    testing::Values(
        LaunchMemberMistake{
            R"js("grid": 17, "cluster": 17, "block": 32, "args": ["x", "y"])js",
            "cluster = 17 x 1 x 1 = 17 blocks is too large for shape search/0; expected at "
            "most 8 blocks in a cluster"},
        LaunchMemberMistake{
            R"js("grid": [4, 4], "cluster": [4, "rows"], "block": 32, "args": ["x", "y"])js",
            "cluster = 4 x 4 x 1 = 16 blocks is too large"},
        LaunchMemberMistake{
            R"js("grid": 1, "cluster": ["1 << 31"], "block": 32, "args": ["x", "y"])js",
            "cluster = 2147483648 x 1 x 1 = 2147483648 blocks is too large for shape search/0"},
        LaunchMemberMistake{
            R"js("grid": 1, "cluster": ["1 << 30", "1 << 30", "1 << 30"], "block": 32,
                     "args": ["x", "y"])js",
            "= over 2^63 blocks is too large"},
        LaunchMemberMistake{
            R"js("grid": 2, "cluster": ["rows - 4"], "block": 32, "args": ["x", "y"])js",
            "cluster[0] = rows - 4 = 0 for shape search/0 (rows=4); expected at least 1 "
            "block"},
        LaunchMemberMistake{
            R"js("grid": ["cols + 1"], "cluster": 2, "block": 32, "args": ["x", "y"])js",
            "k.cu:1:51: grid[0] = 1001 is not a multiple of cluster[0] = 2 for shape search/0; "
            "expected whole clusters"},
        LaunchMemberMistake{R"js("grid": 2, "cluster": [1, 2], "block": 32, "args": ["x", "y"])js",
                            "grid[1] = 1 is not a multiple of cluster[1] = 2"},
        LaunchMemberMistake{
            R"js("grid": 1, "cluster": ["resident"], "block": 32, "args": ["x", "y"])js",
            "unknown name 'resident' in expression"},
        LaunchMemberMistake{
            R"js("grid": 400, "block": 512, "cooperative": true, "args": ["x", "y"])js",
            "the cooperative launch of 'k' has 400 blocks, but 132 can be resident at once for "
            "shape search/0; expected \"grid\": [\"min(..., resident_blocks)\"]"},
        LaunchMemberMistake{R"js("grid": 1, "block": 1024, "args": ["x", "y"])js",
                            "kernel 'k' uses 96 registers per thread, too many for the block of "
                            "1024 threads (98304 registers) for shape search/0; expected at most "
                            "65536 registers in a block: fewer threads, or __launch_bounds__"},
        LaunchMemberMistake{
            R"js("grid": 1, "block": 32, "shared_bytes": "cols * 200", "args": ["x", "y"])js",
            "shared_bytes = cols * 200 = 200000 for shape search/0 (cols=1000); expected at "
            "most 192448: a block has 232448 bytes of shared memory, and kernel 'k' declares "
            "40000 itself"}));

TEST(PlanLaunch, StaticSharedMemoryHasItsOwnLimit) {
  EXPECT_THAT(resolve_launch(R"js("grid": 1, "block": 32, "args": ["x", "y"])js", hopper(32, 65792))
                  .error(),
              HasSubstr("kernel 'k' declares 65792 bytes of __shared__ arrays; expected at most "
                        "49152: use extern __shared__ memory and \"shared_bytes\""));
}

TEST(PlanLaunch, SaysWhatADeviceCannotDo) {
  const auto launch = [](const std::string& member) {
    return R"js("grid": 2, "block": 32, "args": ["x", "y"], )js" + member;
  };
  const Outcome cluster = resolve_launch(launch(R"js("cluster": 2)js"));
  EXPECT_THAT(cluster.error(), HasSubstr("this device has no thread block clusters"));
  EXPECT_TRUE(all_unsupported(cluster.diagnostics));
  Setting setting;
  setting.facts.cooperative = false;
  const Outcome cooperative = resolve_launch(launch(R"js("cooperative": true)js"), setting);
  EXPECT_THAT(cooperative.error(), HasSubstr("this device has no grid-wide barriers"));
  EXPECT_TRUE(all_unsupported(cooperative.diagnostics));
}

TEST(PlanLaunch, AMistakeBesideWhatADeviceCannotDoIsAMistake) {
  const Outcome outcome = resolve(R"js({"launches": [
      {"kernel": "k", "grid": 2, "block": 32, "cluster": 2, "args": ["x", "y"]},
      {"kernel": "k", "grid": 0, "block": 32, "args": ["x", "y"]}]})js");
  EXPECT_EQ(outcome.errors.size(), 2U);
  EXPECT_FALSE(all_unsupported(outcome.diagnostics));
}

TEST(PlanLaunch, AskingForWhatADeviceHasChoosesAVariant) {
  const std::string plan = R"js({"launches": [
      {"kernel": "k", "when": "max_cluster_blocks >= 2", "grid": 2, "block": 32, "cluster": 2,
       "args": ["x", "y"]},
      {"kernel": "k2", "when": "max_cluster_blocks < 2", "grid": 2, "block": 32,
       "args": ["x", "y"]}]})js";
  EXPECT_EQ(resolve(plan, hopper()).launch().kernel, "k");
  EXPECT_EQ(resolve(plan).launch().kernel, "k2");
}

TEST(PlanLaunch, HiddenShapesStayHidden) {
  const char* const launches[] = {
      R"js("grid": ["cols"], "cluster": [2], "block": 32, "args": ["x", "y"])js",
      R"js("grid": ["cols"], "cluster": ["rows"], "block": 32, "args": ["x", "y"])js",
      R"js("grid": ["cols"], "cooperative": true, "block": 512, "args": ["x", "y"])js",
      R"js("grid": 1, "block": "rows * 20", "args": ["x", "y"])js",
      R"js("grid": 1, "block": 32, "shared_bytes": "cols * 50", "args": ["x", "y"])js"};
  for (const char* launch : launches) {
    Setting setting = hidden_setting(37, 4099);
    setting.facts = hopper_facts();
    setting.resources = hopper(96, 40000).resources;
    const std::string error = resolve_launch(launch, setting).error();
    EXPECT_THAT(error, HasSubstr("a hidden shape")) << launch;
    EXPECT_THAT(error, Not(HasSubstr("37"))) << launch;
    EXPECT_THAT(error, Not(HasSubstr("740"))) << launch; // 37 * 20
    EXPECT_THAT(error, Not(HasSubstr("4099"))) << launch;
    EXPECT_THAT(error, Not(HasSubstr("204950"))) << launch; // 4099 * 50
  }
}

} // namespace
} // namespace winnow::tasks
