// Tests ceilings of the CPU device with real launches, against bounds that hold for every machine.
#include "base/error.h"
#include "evaluators/ceilings/ceiling_work.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/device/compile/testing/fresh_cache.h"
#include "evaluators/host/devices.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using profiling::Ceilings;

class MeasureCeilings : public testing::Test {
protected:
  void SetUp() override {
    options_.cache = cache_.path();
    options_.device = "cpu";
    try {
      host_ = open_device(select_device("cpu"), options_, options_.run_timeout);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::filesystem::path file() const {
    return cache_.path() / profiling::ceilings_file_name(ceilings_owner(host_->device));
  }
  Ceilings from_file() const {
    const auto loaded = profiling::load_ceilings(file(), ceilings_owner(host_->device));
    return loaded.value_or(Ceilings{});
  }

  FreshCache cache_;
  EvaluationOptions options_;
  std::shared_ptr<DeviceHost> host_;
};

void expect_plausible(const Ceilings& ceilings) {
  ASSERT_FALSE(ceilings.bandwidth.empty());
  for (const profiling::BandwidthPoint& point : ceilings.bandwidth) {
    EXPECT_GT(point.bytes_per_second, 0.5e9) << point.bytes;
    EXPECT_LT(point.bytes_per_second, 2000e9) << point.bytes;
  }
  EXPECT_GT(ceilings.rate("f32").value_or(0), 1e8);
  EXPECT_GT(ceilings.rate("f64").value_or(0), 1e8);
  EXPECT_GT(ceilings.launch_overhead_ns.value_or(0), 0);
}

TEST_F(MeasureCeilings, OfTheCpuDeviceArePlausible) {
  const Ceilings ceilings = measure_ceilings(*host_, options_);
  expect_plausible(ceilings);
  EXPECT_EQ(ceilings.owner, ceilings_owner(host_->device));
  EXPECT_FALSE(ceilings.date.empty());
  EXPECT_EQ(ceilings.no_rate.at("f16_tensor"), "the cpu device has no tensor cores");
  EXPECT_FALSE(ceilings.no_rate.contains("bandwidth")) << ceilings.no_rate.at("bandwidth");
  EXPECT_FALSE(ceilings.rate("f16_tensor"));
  EXPECT_FALSE(std::filesystem::exists(file())); // only ceilings_of() saves
}

TEST_F(MeasureCeilings, AreTakenFromTheFileTheSecondTime) {
  Ceilings saved = ceilings_of(*host_, options_);
  expect_plausible(saved);
  ASSERT_TRUE(std::filesystem::exists(file()));
  saved.rates["f32"] = 12345; // a value that no measurement gives
  profiling::save_ceilings(file(), saved);
  host_->ceilings.reset();
  EXPECT_EQ(ceilings_of(*host_, options_).rate("f32"), 12345);
}

TEST_F(MeasureCeilings, ATruncatedFileIsMeasuredAgain) {
  Ceilings saved;
  saved.owner = ceilings_owner(host_->device);
  saved.rates["f32"] = 12345;
  profiling::save_ceilings(file(), saved);
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
  expect_plausible(ceilings_of(*host_, options_));
  expect_plausible(from_file());
}

TEST_F(MeasureCeilings, AreRememberedByTheHost) {
  Ceilings saved;
  saved.owner = ceilings_owner(host_->device);
  saved.rates["f32"] = 12345;
  profiling::save_ceilings(file(), saved);
  const Ceilings& first = ceilings_of(*host_, options_);
  EXPECT_EQ(first.rate("f32"), 12345);
  std::filesystem::remove(file());
  EXPECT_EQ(&ceilings_of(*host_, options_), &first);
}

/// Answers every request at once with the same report or fault.
class ScriptedRunner final : public Runner {
public:
  explicit ScriptedRunner(StageOutcome outcome) : outcome_(std::move(outcome)) {}
  StageOutcome run(RunRequest /*request*/, const RunnerLimits& /*limits*/,
                   const std::function<bool()>& /*cancelled*/,
                   const OnReport& /*on_report*/) override {
    return outcome_;
  }

private:
  StageOutcome outcome_;
};

TEST_F(MeasureCeilings, DivideWorkByTheMedianTime) {
  StageOutcome outcome;
  outcome.report.cases.emplace_back().samples_ns = {3000, 1000, 2000};
  host_->runner = std::make_unique<ScriptedRunner>(outcome);
  const Ceilings ceilings = measure_ceilings(*host_, options_);
  const CeilingPlan plan =
      ceiling_plan("cpu", host_->device.facts, cpu_caches(host_->device.facts.sm_count));
  ASSERT_EQ(ceilings.bandwidth.size(), plan.copies.size());
  for (std::size_t i = 0; i < plan.copies.size(); ++i) {
    EXPECT_EQ(ceilings.bandwidth[i].bytes, plan.copies[i].bytes);
    EXPECT_EQ(ceilings.bandwidth[i].level, plan.copies[i].level);
    EXPECT_DOUBLE_EQ(ceilings.bandwidth[i].bytes_per_second, plan.copies[i].moved / 2000e-9);
  }
  EXPECT_DOUBLE_EQ(ceilings.rate("f32").value_or(0), plan.rates.front().operations / 2000e-9);
  EXPECT_EQ(ceilings.launch_overhead_ns, 1000);
}

TEST_F(MeasureCeilings, WhatCannotRunHasAReason) {
  StageOutcome outcome;
  outcome.fault = DeviceFault{tasks::Verdict::Infrastructure, "the device is lost"};
  host_->runner = std::make_unique<ScriptedRunner>(outcome);
  const Ceilings ceilings = ceilings_of(*host_, options_);
  EXPECT_TRUE(ceilings.rates.empty());
  EXPECT_TRUE(ceilings.bandwidth.empty());
  EXPECT_FALSE(ceilings.launch_overhead_ns);
  for (const char* kind : {"f32", "f64", "bandwidth", "launch"}) {
    ASSERT_TRUE(ceilings.no_rate.contains(kind)) << kind;
    EXPECT_THAT(ceilings.no_rate.at(kind), testing::HasSubstr("the device is lost")) << kind;
  }
  EXPECT_FALSE(std::filesystem::exists(file())); // not saved, so the next process measures again
}

TEST_F(MeasureCeilings, LaunchesWithoutTimeAreNoMeasurement) {
  StageOutcome outcome;
  outcome.report.cases.emplace_back().samples_ns = {0, 0, 0};
  host_->runner = std::make_unique<ScriptedRunner>(outcome);
  const Ceilings ceilings = measure_ceilings(*host_, options_);
  EXPECT_TRUE(ceilings.rates.empty());
  EXPECT_FALSE(ceilings.launch_overhead_ns);
  EXPECT_THAT(ceilings.no_rate.at("f32"),
              testing::HasSubstr("too short for the clock of this device"));
}

} // namespace
} // namespace winnow::evaluators
