#include "profiling/counters/counter_names.h"
#include "profiling/counters/counter_provider.h"
#include "profiling/counters/counter_report.h"
#include "profiling/counters/cupti_provider.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

using testing::HasSubstr;

TEST(CounterReport, SurvivesJson) {
  CounterReport report;
  report.provider = "cupti";
  report.counters["dram_throughput_pct"] = {91.25, {}};
  report.counters["stall_gmma"] = {std::nullopt, "AD102 has no such metric"};
  report.counters["l2_hit_rate_pct"] = {0.0, {}};
  report.passes = 7;
  report.setup_ms = 12.5;
  report.collect_ms = 80.25;
  const auto read = nlohmann::json::parse(nlohmann::json(report).dump()).get<CounterReport>();
  EXPECT_EQ(read.provider, "cupti");
  EXPECT_EQ(read.unavailable, "");
  EXPECT_EQ(read.value("dram_throughput_pct"), 91.25);
  EXPECT_EQ(read.value("l2_hit_rate_pct"), 0.0);
  EXPECT_EQ(read.value("stall_gmma"), std::nullopt);
  EXPECT_EQ(read.counters.at("stall_gmma").reason, "AD102 has no such metric");
  EXPECT_EQ(read.counters.at("dram_throughput_pct").reason, "");
  EXPECT_EQ(read.counters.size(), 3U);
  EXPECT_EQ(read.passes, 7);
  EXPECT_EQ(read.setup_ms, 12.5);
  EXPECT_EQ(read.collect_ms, 80.25);
}

TEST(CounterReport, WritesNoNumberThatJsonCannotHold) {
  CounterReport report;
  report.counters["warps_eligible"] = {std::numeric_limits<double>::quiet_NaN(), {}};
  const nlohmann::json json = report;
  EXPECT_TRUE(json.at("counters").at("warps_eligible").at("value").is_null());
  EXPECT_EQ(json.get<CounterReport>().counters.at("warps_eligible").reason, "not a finite number");
}

TEST(CounterReport, AbsentIsNoValue) {
  EXPECT_EQ(CounterReport().value("dram_read_bytes"), std::nullopt);
}

TEST(CounterReport, RefusesAValueThatIsNeitherNumberNorNull) {
  nlohmann::json json = CounterReport();
  json["counters"]["x"] = {{"value", "many"}};
  EXPECT_THROW(json.get<CounterReport>(), nlohmann::json::exception);
  json["counters"]["x"] = {{"value", nullptr}};
  EXPECT_THROW(json.get<CounterReport>(), nlohmann::json::exception);
}

TEST(CounterNames, AreDistinct) {
  std::set<std::string_view> keys;
  std::set<std::string_view> metrics;
  for (const CounterName& name : counter_names()) {
    EXPECT_TRUE(keys.insert(name.key).second) << name.key;
    EXPECT_TRUE(metrics.insert(name.metric).second) << name.metric;
    EXPECT_FALSE(name.unit.empty() || name.title.empty()) << name.key;
    EXPECT_EQ(find_counter(name.key)->metric, name.metric);
  }
  EXPECT_EQ(find_counter("nonsense"), nullptr);
}

TEST(CounterNames, FastIsPartOfFull) {
  EXPECT_EQ(counters_in(CounterSet::Fast).size(), 9U);
  EXPECT_EQ(counters_in(CounterSet::Full).size(), counter_names().size());
}

/// The report of a provider without counters. The provider must not run anything.
CounterReport report_without_running(CounterProvider& provider) {
  EXPECT_FALSE(provider.availability().ok);
  EXPECT_FALSE(provider.availability().remedy.empty());
  const auto never = [] { ADD_FAILURE() << "nothing can be counted, so nothing should run"; };
  return provider.collect(CounterSet::Fast, {never, never});
}

TEST(NoCounters, SayWhyAndRunNothing) {
  const auto none = make_no_counters("cpu", Availability::no("perf is forbidden", "allow it"));
  const CounterReport report = report_without_running(*none);
  EXPECT_EQ(report.provider, "cpu");
  EXPECT_EQ(report.unavailable, "perf is forbidden; allow it");
  EXPECT_TRUE(report.counters.empty());
}

TEST(CuptiLibrary, IsUnavailableWithoutTheLibrary) {
  setenv("WINNOW_CUPTI_LIBRARY", "/nowhere/libcupti.so.13", 1);
  const CounterReport report = report_without_running(*make_cupti_counters(nullptr, 0));
  EXPECT_EQ(report.provider, "cupti");
  EXPECT_FALSE(report.unavailable.empty()); // or "built without headers"
  unsetenv("WINNOW_CUPTI_LIBRARY");
}

TEST(IdleTime, IsLeftOutOfPercentagesOfElapsedTime) {
  CounterReport report;
  report.counters["gpu_time_ns"].value = 140'000;
  report.counters["sm_cycles"].value = 160'000;
  report.counters["dram_throughput_pct"].value = 28;
  report.counters["l1_throughput_pct"].value = 11;
  report.counters["l2_throughput_pct"].reason = "not here";
  report.counters["warps_active_pct"].value = 74;
  leave_out_idle_time(report, 70'000, 2'000);
  EXPECT_DOUBLE_EQ(report.value("dram_throughput_pct").value(), 56);
  EXPECT_NEAR(report.value("l1_throughput_pct").value(), 11 * 160.0 / 140, 1e-9);
  EXPECT_DOUBLE_EQ(report.value("sm_cycles").value(), 140'000);
  EXPECT_DOUBLE_EQ(report.value("gpu_time_ns").value(), 70'000) << "so the quotient is the clock";
  EXPECT_DOUBLE_EQ(report.value("warps_active_pct").value(), 74) << "of active cycles";
  EXPECT_FALSE(report.value("l2_throughput_pct").has_value());
}

TEST(IdleTime, WithoutATimeNothingChangesAndNothingExceedsTheWhole) {
  CounterReport report;
  report.counters["gpu_time_ns"].value = 1000;
  report.counters["dram_throughput_pct"].value = 90;
  leave_out_idle_time(report, 0, 0);
  EXPECT_DOUBLE_EQ(report.value("dram_throughput_pct").value(), 90);
  leave_out_idle_time(report, 2000, 0);
  EXPECT_DOUBLE_EQ(report.value("dram_throughput_pct").value(), 90) << "the range was shorter";
  leave_out_idle_time(report, 500, 0);
  EXPECT_DOUBLE_EQ(report.value("dram_throughput_pct").value(), 100);
}

} // namespace
} // namespace winnow::profiling
