#include "profiling/counters/cpu_events.h"

#include <cerrno>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace winnow::profiling {
namespace {

using testing::HasSubstr;

/// A descriptor from which `reading` can be read once.
int holding(const CpuEventReading& reading) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], &reading, sizeof(reading)), static_cast<ssize_t>(sizeof(reading)));
  close(ends[1]);
  return ends[0];
}

TEST(CpuEvents, ScalesSharedCounters) {
  EXPECT_EQ(scaled_count({1000, 500, 500}), 1000.0);
  EXPECT_EQ(scaled_count({1000, 500, 250}), 2000.0);
  EXPECT_EQ(scaled_count({0, 0, 0}), 0.0); // a thread that always slept
  EXPECT_EQ(scaled_count({0, 500, 0}), std::nullopt);
}

TEST(CpuEvents, AddsTheThreads) {
  const CpuEventCounts counts(
      [](const CpuEvent&, pid_t thread) {
        return thread == 1 ? holding({1'000'000, 500, 500}) : holding({500'000, 800, 400});
      },
      {1, 2});
  const auto values = counts.read();
  EXPECT_EQ(values.size(), cpu_events().size());
  EXPECT_EQ(values.at("cpu_instructions").value, 2'000'000.0);
  EXPECT_EQ(values.at("cpu_instructions").reason, "");
  EXPECT_DOUBLE_EQ(*values.at("cpu_task_clock_ms").value, 2.0); // the system counts in ns
}

TEST(CpuEvents, SaysWhyThereIsNoValue) {
  const CpuEventCounts counts([](const CpuEvent&, pid_t) { return -EPERM; }, {1, 2});
  for (const auto& [key, value] : counts.read()) {
    EXPECT_FALSE(value.value.has_value()) << key;
    EXPECT_THAT(value.reason, testing::Not(testing::IsEmpty())) << key;
  }
}

TEST(CpuEvents, LeavesOutThreadsThatHaveEnded) {
  const CpuEventCounts counts(
      [](const CpuEvent&, pid_t thread) {
        return thread == 1 ? holding({7, 10, 10}) : -ESRCH;
      },
      {1, 2});
  EXPECT_EQ(counts.read().at("cpu_cycles").value, 7.0);
}

TEST(CpuEvents, DoesNotAddUpAPart) {
  const CpuEventCounts counts(
      [](const CpuEvent&, pid_t thread) {
        return thread == 1 ? holding({7, 10, 10}) : -EMFILE;
      },
      {1, 2});
  const CounterValue cycles = counts.read().at("cpu_cycles");
  EXPECT_EQ(cycles.value, std::nullopt);
  EXPECT_THAT(cycles.reason, HasSubstr("open files"));
}

TEST(CpuEvents, ACounterThatNeverRanHasNoValue) {
  const CpuEventCounts counts([](const CpuEvent&, pid_t) { return holding({0, 500, 0}); }, {1});
  const CounterValue cycles = counts.read().at("cpu_cycles");
  EXPECT_EQ(cycles.value, std::nullopt);
  EXPECT_THAT(cycles.reason, HasSubstr("the event got no hardware counter"));
}

TEST(CpuEvents, AFailedReadIsNoValue) {
  const CpuEventCounts counts([](const CpuEvent&, pid_t) { return holding({7, 10, 10}); }, {1});
  counts.read();
  const CounterValue cycles = counts.read().at("cpu_cycles"); // the pipe is now empty
  EXPECT_EQ(cycles.value, std::nullopt);
  EXPECT_THAT(cycles.reason, HasSubstr("too few bytes"));
}

TEST(CpuEvents, NamesTheRemedy) {
  EXPECT_THAT(explain_cpu_event_error(EACCES, 3, false), HasSubstr("perf_event_paranoid=2"));
  EXPECT_THAT(explain_cpu_event_error(EPERM, 2, true), HasSubstr("filter"));
  EXPECT_THAT(explain_cpu_event_error(ENOSYS, std::nullopt, true), HasSubstr("filter"));
  EXPECT_THAT(explain_cpu_event_error(EPERM, 2, false), HasSubstr("CAP_PERFMON"));
  EXPECT_THAT(explain_cpu_event_error(ENOSYS, std::nullopt, false), HasSubstr("CONFIG_PERF"));
  EXPECT_THAT(explain_cpu_event_error(ENOENT, 2, false), HasSubstr("virtual machines"));
}

TEST(CpuEvents, TellsValueOrReasonOfThisMachine) {
  const CpuEventCounts counts;
  for (const auto& [key, value] : counts.read()) {
    EXPECT_EQ(value.value.has_value(), value.reason.empty()) << key << ": " << value.reason;
  }
}

} // namespace
} // namespace winnow::profiling
