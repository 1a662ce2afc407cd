#include "harness/run/state/progress.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

ProgressSnapshot snapshot() {
  ProgressSnapshot result;
  result.calls_planned = 36;
  result.spend.calls = 12;
  result.in_flight = 2;
  result.judging = 1;
  result.verdicts = {{"correct", 7}, {"wrong", 3}};
  result.best_speedup = {{"axpy", 1.1}, {"gemm_f32", 3.1}};
  result.spend.dollars = 0.12;
  result.limits.dollars = 5;
  result.elapsed = result.last_result = std::chrono::seconds(60);
  return result;
}

TEST(StatusLine, SaysWhereTheRunStands) {
  EXPECT_EQ(status_line(snapshot()),
            "12/36 calls, 2 in flight, 1 judging | about 2 min 36 s left | best 3.10x gemm_f32 | "
            "$0.12 of $5 | 7 correct, 3 wrong");
}

TEST(StatusLine, LeavesOutWhatDoesNotFit) {
  EXPECT_EQ(status_line(snapshot(), 79),
            "12/36 calls, 2 in flight, 1 judging | about 2 min 36 s left | $0.12 of $5");
  EXPECT_EQ(status_line(snapshot(), 64),
            "12/36 calls, 2 in flight, 1 judging | about 2 min 36 s left");
}

TEST(StatusLine, CountsWhatIsJudgedIntoTheTimeLeft) {
  ProgressSnapshot judging = snapshot();
  judging.spend.calls = 36;
  judging.verdicts = {{"correct", 30}};
  EXPECT_THAT(status_line(judging), testing::HasSubstr("| about 12.0 s left |"));
  judging.verdicts = {{"correct", 36}};
  EXPECT_THAT(status_line(judging), testing::HasSubstr("| 1 min 00 s |")) << "nothing is left";
}

TEST(StatusLine, TheWallTimeLimitBoundsTheTimeLeft) {
  ProgressSnapshot limited = snapshot();
  limited.limits.wall_time = std::chrono::seconds(75);
  EXPECT_THAT(status_line(limited), testing::HasSubstr("about 15.0 s left"));
  limited.elapsed = std::chrono::seconds(80);
  EXPECT_THAT(status_line(limited), testing::HasSubstr("| 1 min 20 s |")) << "it has struck";
}

TEST(StatusLine, TheTimeLeftNeverGrowsWhileAKernelIsJudged) {
  ProgressSnapshot later = snapshot();
  later.elapsed += std::chrono::seconds(6);
  EXPECT_THAT(status_line(later), testing::HasSubstr("about 2 min 30 s left"));
  later.verdicts.clear();
  later.limits.wall_time = std::chrono::minutes(30);
  EXPECT_THAT(status_line(later), testing::HasSubstr("| 1 min 06 s |"))
      << "nobody knows how long the first result takes";
}

TEST(StatusLine, IsShortAtTheStart) {
  ProgressSnapshot start;
  start.calls_planned = 6;
  EXPECT_EQ(status_line(start), "0/6 calls | 0 ms");
}

TEST(Progress, PrintsALineForEachEventWithoutATerminal) {
  std::ostringstream out;
  Progress progress(out, false, 80);
  progress.update(snapshot());
  progress.event("axpy/0/0 correct");
  progress.event("axpy/0/1 wrong", Progress::Weight::Important);
  progress.finish();
  EXPECT_EQ(out.str(), "axpy/0/0 correct\naxpy/0/1 wrong\n");
}

TEST(Progress, RedrawsOneLineOnATerminal) {
  std::ostringstream out;
  Progress progress(out, true, 20);
  progress.update(snapshot());
  EXPECT_EQ(out.str(), "\r\x1b[K12/36 calls, 2 in f") << "cut to 19 columns: it must not wrap";
  out.str("");
  progress.event("routine");
  EXPECT_EQ(out.str(), "");
  progress.event("news", Progress::Weight::Important);
  EXPECT_EQ(out.str(), "\r\x1b[Knews\n\r\x1b[K12/36 calls, 2 in f");
  out.str("");
  progress.finish();
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST(Progress, SaysWhenTheEndpointIsNotWell) {
  std::ostringstream out;
  Progress progress(out, false, 80);
  ProgressSnapshot now;
  progress.update(now);
  now.endpoint = {agents::EndpointHealth::State::Down, "5 failures in a row, the last: HTTP 529"};
  progress.update(now);
  progress.update(now);
  EXPECT_THAT(status_line(now), testing::StartsWith("endpoint down: 5 failures in a row"));
  now.endpoint = {};
  progress.update(now);
  EXPECT_EQ(out.str(),
            "endpoint down: 5 failures in a row, the last: HTTP 529\nendpoint ok again\n");
}

} // namespace
} // namespace winnow::harness
