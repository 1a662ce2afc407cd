// Tests with the real CUPTI. Its host API needs neither GPU nor driver.
#include "base/sanitized.h"
#include "profiling/counters/cupti_failure.h"
#include "profiling/counters/cupti_plan.h"

#include <array>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::profiling::cupti {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CuptiPlan : public testing::Test {
protected:
  CuptiPlan() {
    if (kSanitized || !library_.availability.ok) {
      return;
    }
    // Fails without a driver, but names and plans still work.
    auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
    library_.functions.cuptiProfilerInitialize(&params);
  }

  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "CUPTI loads its helpers with RTLD_DEEPBIND, which sanitizers refuse";
    }
    if (!library_.availability.ok) {
      GTEST_SKIP() << library_.availability.why;
    }
  }

  Plan plan(const char* chip, CounterSet set) {
    chip_.name = chip;
    return make_plan(library_.functions, chip_, counters_in(set));
  }

  std::optional<std::string> refusal(const char* metric) {
    return refusal_of(library_.functions, chip_, metric);
  }

  Library library_ = load_library();
  Chip chip_{"GH100", {}};
};

TEST_F(CuptiPlan, HopperHasEveryCounter) {
  const Plan full = plan("GH100", CounterSet::Full);
  EXPECT_THAT(full.counters, SizeIs(counter_names().size()));
  for (const auto& [key, why] : full.left_out) {
    ADD_FAILURE() << key << ": " << why;
  }
  EXPECT_FALSE(full.config.empty());
}

TEST_F(CuptiPlan, FastTakesOnePass) {
  for (const char* chip : {"GH100", "GA100", "AD102", "GB100", "GB202"}) {
    const Plan fast = plan(chip, CounterSet::Fast);
    EXPECT_THAT(fast.counters, SizeIs(9)) << chip;
    EXPECT_EQ(fast.passes, 1U) << chip;
  }
}

TEST_F(CuptiPlan, FullTakesSevenPassesAtMost) {
  for (const char* chip : {"GH100", "GA100", "AD102", "GB100", "GB202"}) {
    const Plan full = plan(chip, CounterSet::Full);
    std::cout << chip << ": " << full.counters.size() << " counters in " << full.passes
              << " passes\n";
    EXPECT_LE(full.passes, 7U) << chip;
  }
}

TEST_F(CuptiPlan, OtherChipsLackNothingButHoppersOwnStall) {
  for (const char* chip : {"GA100", "AD102", "GB100", "GB202"}) {
    const Plan full = plan(chip, CounterSet::Full);
    EXPECT_THAT(full.left_out, testing::ElementsAre(testing::Pair("stall_gmma", testing::_)))
        << chip;
    EXPECT_THAT(full.left_out.at("stall_gmma"), HasSubstr(std::string(chip) + " has no metric"));
  }
}

TEST_F(CuptiPlan, TakesTheNameThatTheChipHas) {
  const auto metric_of = [](const Plan& plan, std::string_view key) {
    for (const PlannedCounter& counter : plan.counters) {
      if (counter.name.key == key) {
        return counter.metric;
      }
    }
    return std::string();
  };
  EXPECT_THAT(metric_of(plan("AD102", CounterSet::Fast), "tensor_pipe_pct"), HasSubstr("_v2.avg"));
  EXPECT_THAT(metric_of(plan("GH100", CounterSet::Fast), "tensor_pipe_pct"),
              HasSubstr("cycles_active.avg"));
  EXPECT_THAT(metric_of(plan("GA100", CounterSet::Full), "fp16_pipe_pct"),
              HasSubstr("sm__inst_executed_pipe_fp16.avg"));
}

TEST_F(CuptiPlan, OneBadNameCostsNoOther) {
  const std::array<CounterName, 4> names = {{
      {"good", "dram__bytes_read.sum", "", "B", "", CounterSet::Fast},
      {"unknown", "dram__bytes_eaten.sum", "", "B", "", CounterSet::Fast},
      {"no_suffix", "dram__bytes_read", "", "B", "", CounterSet::Fast},
      {"good_too", "sm__cycles_elapsed.max", "", "1", "", CounterSet::Fast},
  }};
  const Plan mixed = make_plan(library_.functions, chip_, names);
  ASSERT_THAT(mixed.counters, SizeIs(2));
  EXPECT_EQ(mixed.counters[1].name.key, "good_too");
  EXPECT_THAT(mixed.left_out.at("unknown"), HasSubstr("GH100 has no metric dram__bytes_eaten.sum"));
  EXPECT_THAT(mixed.left_out.at("no_suffix"), HasSubstr("cannot count dram__bytes_read ("));
}

TEST_F(CuptiPlan, RefusesWhatOnlyNcuHas) {
  EXPECT_TRUE(refusal("launch__registers_per_thread"));
  EXPECT_TRUE(refusal("dram__bytes_read.pct"));
  EXPECT_FALSE(refusal("dram__bytes_read.sum"));
}

TEST_F(CuptiPlan, NamesAChipThatItDoesNotKnow) {
  try {
    plan("XY999", CounterSet::Fast);
    FAIL() << "a plan for a chip that does not exist";
  } catch (const CuptiFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("does not know the chip XY999"));
    EXPECT_TRUE(failure.lasting());
  }
}

} // namespace
} // namespace winnow::profiling::cupti
