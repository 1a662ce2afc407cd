#include "base/files.h"
#include "evaluators/process/sandbox.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

class SandboxLevel : public testing::TestWithParam<Isolation> {
protected:
  void SetUp() override {
    const Availability& availability = probe_isolation().at(GetParam());
    if (!availability.ok) {
      GTEST_SKIP() << availability.why << "; " << availability.remedy;
    }
  }
  ChildResult act(const std::vector<std::string>& words, const SandboxPolicy& policy = {},
                  const Limits& limits = {}) {
    const Sandbox sandbox(GetParam(), executable_path());
    return run_child(sandbox.command("_act", words, policy, limits), "");
  }
};

TEST_P(SandboxLevel, Echoes) {
  const ChildResult result = act({"echo", "a", "b c"});
  EXPECT_EQ(result.out, "a\nb c\n") << describe(result) << result.err;
}

std::string level_name(const testing::TestParamInfo<Isolation>& info) {
  switch (info.param) {
  case Isolation::Rlimits:
    return "Rlimits";
  case Isolation::LandlockSeccomp:
    return "LandlockSeccomp";
  case Isolation::Bubblewrap:
    break;
  }
  return "Bubblewrap";
}

INSTANTIATE_TEST_SUITE_P(Levels, SandboxLevel,
                         testing::Values(Isolation::Rlimits, Isolation::LandlockSeccomp,
                                         Isolation::Bubblewrap),
                         level_name);

} // namespace
} // namespace winnow::evaluators
