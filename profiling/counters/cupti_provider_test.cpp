#include "profiling/counters/counter_names.h"
#include "profiling/counters/cupti_provider.h"
#include "profiling/counters/testing/cupti_fake.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

const char* const kReadMetric = "dram__bytes_read.sum";
const char* const kWarpsMetric = "sm__warps_active.avg.pct_of_peak_sustained_active";

class CuptiCounters : public testing::Test {
protected:
  CuptiCounters() {
    setenv("WINNOW_CUPTI_LIBRARY", WINNOW_CUPTI_DOUBLE, 1);
    void* library = dlopen(WINNOW_CUPTI_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    auto* only = reinterpret_cast<CuptiDouble* (*)()>(dlsym(library, "cupti_double"));
    cupti_ = only();
    *cupti_ = {};
  }

  // After every test, the calls were valid and everything is closed.
  ~CuptiCounters() override {
    counters_.reset();
    EXPECT_THAT(cupti_->mistakes, IsEmpty());
    EXPECT_EQ(cupti_->hosts_open, 0);
    EXPECT_EQ(cupti_->ranges_open, 0);
    EXPECT_EQ(cupti_->initialised, 0);
    unsetenv("WINNOW_CUPTI_LIBRARY");
  }

  CounterProvider& counters() {
    if (!counters_) {
      counters_ = make_cupti_counters(&context_, 0);
    }
    return *counters_;
  }

  CounterReport collect(CounterSet set = CounterSet::Fast) {
    CounterReport report =
        counters().collect(set, {[this] { cupti_->calls.emplace_back("restore"); },
                                 [this] { cupti_->calls.emplace_back("launch"); }});
    EXPECT_EQ(report.provider, "cupti");
    return report;
  }

  long times(const char* call) const {
    return std::count(cupti_->calls.begin(), cupti_->calls.end(), call);
  }

  /// The reason of a report that has no counters.
  std::string why_nothing(const CounterReport& report) {
    EXPECT_THAT(report.counters, IsEmpty());
    return report.unavailable;
  }

  int context_ = 0; // stands for a CUcontext; the double does not dereference it
  CuptiDouble* cupti_ = nullptr;
  std::unique_ptr<CounterProvider> counters_;
};

TEST_F(CuptiCounters, ReadEveryCounterByItsName) {
  double number = 1;
  for (const CounterName& name : counter_names()) {
    cupti_->values[std::string(name.metric)] = number++;
  }
  ASSERT_TRUE(counters().availability().ok) << counters().availability().why;
  const CounterReport report = collect(CounterSet::Full);
  EXPECT_EQ(report.unavailable, "");
  EXPECT_EQ(report.counters.size(), counter_names().size());
  number = 1;
  for (const CounterName& name : counter_names()) {
    EXPECT_EQ(report.value(name.key), name.scale * number++) << name.key;
  }
  EXPECT_EQ(report.value("l2_read_bytes"), 32 * cupti_->values["lts__t_sectors_srcunit_tex_op_read."
                                                               "sum"]);
}

TEST_F(CuptiCounters, CountInTheOrderThatCuptiWants) {
  counters();
  collect();
  const auto first =
      std::find(cupti_->calls.begin(), cupti_->calls.end(), "cuptiRangeProfilerEnable");
  std::vector<std::string> calls(first, cupti_->calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end()); // one evaluation per metric
  EXPECT_THAT(calls,
              ElementsAre("cuptiRangeProfilerEnable", "cuptiRangeProfilerGetCounterDataSize",
                          "cuptiRangeProfilerCounterDataImageInitialize",
                          "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart", "restore",
                          "cuptiRangeProfilerPushRange", "launch", "cuptiRangeProfilerPopRange",
                          "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData",
                          "cuptiRangeProfilerGetCounterDataInfo",
                          "cuptiProfilerHostEvaluateToGpuValues"));
}

TEST_F(CuptiCounters, StayOnFromKernelToKernel) {
  cupti_->planned_passes = cupti_->needed_passes = 2;
  for (const CounterSet set : {CounterSet::Fast, CounterSet::Fast, CounterSet::Full}) {
    const CounterReport report = collect(set);
    EXPECT_EQ(report.value("sm_cycles"), CuptiDouble::kUsualValue);
    EXPECT_EQ(report.passes, 2);
  }
  EXPECT_EQ(times("cuptiRangeProfilerEnable"), 2) << "once for each set in a row";
  EXPECT_EQ(times("cuptiRangeProfilerGetCounterDataSize"), 2);
  EXPECT_EQ(times("cuptiRangeProfilerCounterDataImageInitialize"), 3);
  EXPECT_EQ(times("cuptiRangeProfilerDisable"), 1);
  counters_.reset();
  EXPECT_EQ(times("cuptiRangeProfilerDisable"), 2);
}

TEST_F(CuptiCounters, CountSeveralRunsInOnePass) {
  cupti_->planned_passes = cupti_->needed_passes = 2;
  const auto step = [this](const char* name) {
    return [this, name] { cupti_->calls.emplace_back(name); };
  };
  const std::vector<CountedRun> runs = {{step("restore a"), step("launch a")},
                                        {step("restore b"), step("launch b")}};
  const auto reports = counters().collect_all(CounterSet::Fast, runs);
  ASSERT_EQ(reports.size(), 2U);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].unavailable, "");
    EXPECT_EQ(reports[i].passes, 2);
    EXPECT_EQ(reports[i].value("sm_cycles"), CuptiDouble::kUsualValue + static_cast<double>(i));
  }
  std::vector<std::string> ours;
  std::copy_if(cupti_->calls.begin(), cupti_->calls.end(), std::back_inserter(ours),
               [](const std::string& call) {
                 return call.find(' ') != std::string::npos || call == "cuptiRangeProfilerStart";
               });
  const std::vector<std::string> pass = {"cuptiRangeProfilerStart", "restore a", "launch a",
                                         "restore b", "launch b"};
  std::vector<std::string> both = pass;
  both.insert(both.end(), pass.begin(), pass.end());
  EXPECT_EQ(ours, both);
  EXPECT_EQ(collect().value("sm_cycles"), CuptiDouble::kUsualValue) << "one run afterwards";
  const std::vector<CountedRun> many(35, runs[0]); // more than one pass has
  const auto all = counters().collect_all(CounterSet::Fast, many);
  ASSERT_EQ(all.size(), 35U);
  EXPECT_EQ(all[34].value("sm_cycles"), CuptiDouble::kUsualValue + 2) << "the third of its pass";
  EXPECT_THAT(counters().collect_all(CounterSet::Fast, {}), IsEmpty());
}

TEST_F(CuptiCounters, ProbePermissionFirst) {
  counters();
  EXPECT_THAT(cupti_->calls,
              ElementsAre("cuptiProfilerInitialize", "cuptiProfilerDeviceSupported",
                          "cuptiDeviceGetChipName", "cuptiProfilerGetCounterAvailability",
                          "cuptiProfilerGetCounterAvailability"));
}

TEST_F(CuptiCounters, AreSetUpOnce) {
  EXPECT_GT(collect().setup_ms, 0);
  const int hosts = cupti_->hosts_made;
  EXPECT_EQ(collect().setup_ms, 0);
  EXPECT_EQ(cupti_->hosts_made, hosts);
  EXPECT_GT(collect(CounterSet::Full).setup_ms, 0);
  EXPECT_EQ(times("cuptiProfilerInitialize"), 1);
}

TEST_F(CuptiCounters, RestoreBeforeEveryPass) {
  cupti_->planned_passes = cupti_->needed_passes = 3;
  const CounterReport report = collect();
  EXPECT_EQ(report.passes, 3);
  EXPECT_EQ(times("restore"), 3);
  EXPECT_EQ(times("launch"), 3);
  EXPECT_EQ(report.value("dram_read_bytes"), CuptiDouble::kUsualValue);
}

TEST_F(CuptiCounters, TakeAFewPassesMoreThanPlanned) {
  cupti_->planned_passes = 3;
  cupti_->needed_passes = 5;
  const CounterReport report = collect();
  EXPECT_EQ(report.unavailable, "");
  EXPECT_EQ(report.passes, 5);
}

TEST_F(CuptiCounters, EndWhenPassesDoNot) {
  cupti_->planned_passes = 3;
  cupti_->needed_passes = 1000;
  EXPECT_THAT(why_nothing(collect()), HasSubstr("asks for more than 7 passes, but it planned 3"));
  cupti_->needed_passes = 3;
  EXPECT_EQ(collect().unavailable, "");
}

TEST_F(CuptiCounters, DoNotTrustADroppedRange) {
  cupti_->dropped_ranges = 1;
  EXPECT_THAT(why_nothing(collect()), HasSubstr("dropped 1 ranges"));
  cupti_->dropped_ranges = 0;
  cupti_->ranges = 0;
  EXPECT_THAT(why_nothing(collect()), HasSubstr("kept 0"));
}

TEST_F(CuptiCounters, HaveNoValueForNonsense) {
  cupti_->values[kReadMetric] = std::nan("");
  cupti_->values[kWarpsMetric] = -3;
  cupti_->values["dram__bytes_write.sum"] = 0;
  cupti_->unevaluable_metrics.insert("gpu__time_duration.sum");
  const CounterReport report = collect();
  EXPECT_EQ(report.unavailable, "");
  const auto reason = [&](const char* key) {
    EXPECT_EQ(report.value(key), std::nullopt) << key;
    return report.counters.at(key).reason;
  };
  EXPECT_THAT(reason("dram_read_bytes"), HasSubstr("gives nan for dram__bytes_read.sum"));
  EXPECT_THAT(reason("warps_active_pct"), HasSubstr("gives -3"));
  EXPECT_THAT(reason("gpu_time_ns"), HasSubstr("cannot evaluate gpu__time_duration.sum"));
  EXPECT_EQ(report.value("dram_write_bytes"), 0);
  EXPECT_EQ(report.value("sm_cycles"), CuptiDouble::kUsualValue);
}

TEST_F(CuptiCounters, LeaveOutWhatTheChipLacks) {
  cupti_->unknown_metrics = {kReadMetric, "dram__bytes_op_read.sum"};
  cupti_->unschedulable_metrics = {kWarpsMetric};
  cupti_->values["sm__cycles_elapsed.max"] = 1234;
  const CounterReport report = collect();
  EXPECT_EQ(report.counters.size(), 9U);
  EXPECT_THAT(report.counters.at("dram_read_bytes").reason,
              HasSubstr("DOUBLE100 has no metric dram__bytes_read.sum"));
  EXPECT_THAT(report.counters.at("warps_active_pct").reason, HasSubstr("cannot count"));
  EXPECT_EQ(report.value("sm_cycles"), 1234);
  EXPECT_EQ(report.value("dram_read_bytes"), std::nullopt);
}

TEST_F(CuptiCounters, FallBackToAnotherName) {
  cupti_->unknown_metrics = {kReadMetric};
  cupti_->values["dram__bytes_op_read.sum"] = 99;
  EXPECT_EQ(collect().value("dram_read_bytes"), 99);
}

TEST_F(CuptiCounters, AreUnavailableWhereTheChipHasNone) {
  for (const CounterName& name : counter_names()) {
    cupti_->unknown_metrics.insert({std::string(name.metric), std::string(name.fallback)});
  }
  EXPECT_THAT(why_nothing(collect()), HasSubstr("DOUBLE100 has none of the counters"));
}

TEST_F(CuptiCounters, RunNothingWithoutPermission) {
  cupti_->failing["cuptiProfilerGetCounterAvailability"] = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const Availability availability = counters().availability();
  EXPECT_FALSE(availability.ok);
  EXPECT_THAT(availability.why, HasSubstr("only administrators"));
  EXPECT_THAT(availability.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(availability.remedy, HasSubstr("CAP_PERFMON"));
  EXPECT_THAT(why_nothing(collect()), HasSubstr("--cap-add"));
  EXPECT_EQ(times("launch") + times("restore"), 0);
  EXPECT_EQ(cupti_->initialised, 0); // its hooks are removed from the driver
}

TEST_F(CuptiCounters, DoNotAskAgainForAPermissionThatStartRefused) {
  cupti_->failing["cuptiRangeProfilerStart"] = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  EXPECT_THAT(why_nothing(collect()), HasSubstr("cuptiRangeProfilerStart: the NVIDIA driver lets"));
  EXPECT_FALSE(counters().availability().ok);
  EXPECT_THAT(why_nothing(collect()), HasSubstr("only administrators"));
  EXPECT_EQ(times("restore") + times("launch"), 0);
}

TEST_F(CuptiCounters, TryAgainWhenTheHardwareWasBusy) {
  cupti_->failing["cuptiRangeProfilerStart"] = CUPTI_ERROR_HARDWARE_BUSY;
  EXPECT_THAT(why_nothing(collect()), HasSubstr("another profiler holds the counters (DCGM"));
  EXPECT_TRUE(counters().availability().ok);
  cupti_->failing.clear();
  EXPECT_EQ(collect().value("sm_cycles"), CuptiDouble::kUsualValue);
}

TEST_F(CuptiCounters, TellWhyTheDeviceIsNotSupported) {
  cupti_->supported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  EXPECT_THAT(make_cupti_counters(&context_, 3)->availability().why,
              HasSubstr("cannot profile GPU 3: CUPTI does not say why"));
  cupti_->vgpu = CUPTI_PROFILER_CONFIGURATION_DISABLED;
  EXPECT_THAT(make_cupti_counters(&context_, 3)->availability().why,
              HasSubstr("disabled for this vGPU"));
  cupti_->vgpu = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  cupti_->confidential = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  EXPECT_THAT(make_cupti_counters(&context_, 3)->availability().why,
              HasSubstr("confidential computing"));
}

TEST_F(CuptiCounters, TellErrorsApart) {
  const auto why = [this](CUptiResult result) {
    cupti_->failing["cuptiProfilerGetCounterAvailability"] = result;
    const Availability availability = make_cupti_counters(&context_, 0)->availability();
    EXPECT_FALSE(availability.remedy.empty()) << result;
    return availability.why;
  };
  EXPECT_THAT(why(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES),
              HasSubstr("host of this virtual GPU"));
  EXPECT_THAT(why(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED), HasSubstr("confidential"));
  EXPECT_THAT(why(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED), HasSubstr("another tool"));
  EXPECT_THAT(why(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED), HasSubstr("MIG"));
  EXPECT_THAT(why(CUPTI_ERROR_NOT_INITIALIZED), HasSubstr("not initialised"));
  EXPECT_THAT(why(CUPTI_ERROR_HARDWARE), HasSubstr("RESULT_9"));
  cupti_->failing = {{"cuptiProfilerInitialize", CUPTI_ERROR_UNKNOWN}};
  EXPECT_THAT(make_cupti_counters(&context_, 0)->availability().why,
              HasSubstr("finds no NVIDIA driver"));
}

TEST_F(CuptiCounters, LetALaunchsExceptionThroughAndCountAgain) {
  const auto nothing = [] {};
  const auto fault = [] { throw std::runtime_error("illegal address"); };
  cupti_->planned_passes = cupti_->needed_passes = 2;
  EXPECT_THROW(counters().collect(CounterSet::Fast, {nothing, fault}), std::runtime_error);
  EXPECT_THAT(cupti_->calls, IsSupersetOf({"cuptiRangeProfilerPopRange", "cuptiRangeProfilerStop",
                                           "cuptiRangeProfilerDisable"}));
  EXPECT_EQ(cupti_->ranges_open, 0);
  EXPECT_THROW(counters().collect(CounterSet::Fast, {fault, nothing}), std::runtime_error);
  EXPECT_EQ(cupti_->ranges_open, 0);
  EXPECT_EQ(collect().value("sm_cycles"), CuptiDouble::kUsualValue);
}

TEST_F(CuptiCounters, EndWhenTurningOffAfterAFailureFails) {
  EXPECT_EQ(collect().value("sm_cycles"), CuptiDouble::kUsualValue);
  cupti_->failing = {{"cuptiRangeProfilerStart", CUPTI_ERROR_HARDWARE_BUSY},
                     {"cuptiRangeProfilerDisable", CUPTI_ERROR_HARDWARE}};
  EXPECT_THAT(why_nothing(collect()), HasSubstr("another profiler holds the counters"));
  EXPECT_THAT(counters().availability().why, HasSubstr("cuptiRangeProfilerDisable failed"));
  EXPECT_THAT(why_nothing(collect()), HasSubstr("use a fresh process"));
}

TEST_F(CuptiCounters, SurviveTheFailureOfAnyCall) {
  constexpr std::array kCalls = {
      "cuptiProfilerInitialize",
      "cuptiProfilerDeviceSupported",
      "cuptiDeviceGetChipName",
      "cuptiProfilerGetCounterAvailability",
      "cuptiProfilerHostInitialize",
      "cuptiRangeProfilerEnable",
      "cuptiRangeProfilerGetCounterDataSize",
      "cuptiRangeProfilerCounterDataImageInitialize",
      "cuptiRangeProfilerSetConfig",
      "cuptiRangeProfilerStart",
      "cuptiRangeProfilerPushRange",
      "cuptiRangeProfilerPopRange",
      "cuptiRangeProfilerStop",
      "cuptiRangeProfilerDecodeData",
      "cuptiRangeProfilerGetCounterDataInfo",
  };
  for (const char* call : kCalls) {
    cupti_->failing = {{call, CUPTI_ERROR_OUT_OF_MEMORY}};
    counters_.reset();
    EXPECT_THAT(why_nothing(collect()),
                HasSubstr(std::string(call) + ": there is not enough memory"));
    cupti_->failing.clear();
    EXPECT_EQ(cupti_->ranges_open, 0) << call;
  }
}

TEST_F(CuptiCounters, NameAFunctionThatTheLibraryLacks) {
  setenv("WINNOW_CUPTI_LIBRARY", "libm.so.6", 1);
  const Availability availability = counters().availability();
  EXPECT_FALSE(availability.ok);
  EXPECT_EQ(availability.why, "libm.so.6 has no function cuptiDeviceGetChipName");
  EXPECT_THAT(availability.remedy, HasSubstr("WINNOW_CUPTI_LIBRARY"));
}

TEST_F(CuptiCounters, NameTheLibraryThatIsMissing) {
  setenv("WINNOW_CUPTI_LIBRARY", "/nowhere/libcupti.so.13", 1);
  EXPECT_THAT(counters().availability().why, HasSubstr("cannot load CUPTI: /nowhere/libcupti"));
}

} // namespace
} // namespace winnow::profiling
