#include "base/error.h"
#include "base/files.h"
#include "lab/fit.h"
#include "lab/minimise.h"
#include "lab/testing/landscape_fake.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::lab {
namespace {

using tasks::Verdict;
using testing::Contains;
using testing::HasSubstr;

RecordedSearch simulated(const Landscape& landscape, const std::string& strategy, std::size_t calls,
                         std::uint64_t seed) {
  RecordedSearch search;
  search.policy = search::preset(strategy).policy;
  SessionResult result =
      simulate(landscape, search.policy, {{calls, 0, 0}, {1, 1}, {}, true}, seed);
  search.events = std::move(result.events);
  search.calls = std::move(result.calls);
  search.settings = std::move(result.settings);
  return search;
}

/// Unlike the landscape that fits begin with.
Landscape true_landscape() {
  Landscape landscape = usual_landscape();
  landscape.verdicts[0] = {
      {Verdict::Correct, 0.6}, {Verdict::CompileError, 0.25}, {Verdict::Wrong, 0.15}};
  landscape.verdicts[1] = {
      {Verdict::Correct, 0.9}, {Verdict::CompileError, 0.05}, {Verdict::Wrong, 0.05}};
  landscape.tuning = {0.7, 9, 0.12};
  landscape.hidden = {0.25, 0.6};
  landscape.measurement = {0.02, 0.02};
  landscape.device = {4, 1, 0.05, 0.3};
  landscape.task.ceiling = 1.6;
  landscape.gains.improves = 0.6;
  landscape.gains.regression = 0.15;
  landscape.models = {{"model", 0.1, 90}};
  return landscape;
}

TEST(Fit, RecoversALandscapeFromItsLogs) {
  std::vector<RecordedSearch> searches;
  for (std::uint64_t seed = 1001; seed <= 1120; ++seed) {
    searches.push_back(simulated(true_landscape(), "one-plus-one", 8, seed));
  }
  FitPlan plan{"again", "simulated logs", 50, 40};
  const Fit found = fit(searches, usual_landscape(), plan);
  const Landscape& again = found.landscape;
  EXPECT_EQ(found.searches, 120U);
  EXPECT_EQ(found.calls, 960U);
  EXPECT_NEAR(again.verdicts_after(ParentState::First).at(Verdict::Correct), 0.6, 0.1);
  EXPECT_NEAR(again.verdicts_after(ParentState::Correct).at(Verdict::Correct), 0.9, 0.05);
  EXPECT_NEAR(again.tuning.tunable, 0.7, 0.06);
  EXPECT_EQ(again.tuning.choices, 9U);
  EXPECT_NEAR(again.tuning.gap, 0.12, 0.03);
  EXPECT_NEAR(again.hidden.slow, 0.25, 0.08);
  EXPECT_NEAR(again.hidden.slowdown, 0.6, 0.15);
  EXPECT_NEAR(again.measurement.interval, 0.02, 0.002);
  EXPECT_NEAR(again.device.right, 4, 0.4);
  EXPECT_NEAR(again.device.wrong, 1, 0.2);
  EXPECT_NEAR(again.device.heat, 0.05, 0.01);
  EXPECT_NEAR(again.device.spread, 0.3, 0.1);
  EXPECT_NEAR(again.models.front().dollars, 0.1, 0.02);
  EXPECT_NEAR(again.models.front().seconds, 90, 15);
  EXPECT_NEAR(again.task.ceiling, 1.6, 0.5);
  EXPECT_NEAR(again.gains.regression, 0.15, 0.06);
  EXPECT_LT(found.mean_error, 2);
  // The result is a landscape file, and every number says where it comes from.
  const Landscape written = parse_landscape(landscape_toml(again), "again.toml");
  EXPECT_THAT(written.sources.at("tuning"), HasSubstr("simulated logs"));
}

TEST(Fit, KeepsWhatTheRecordsDoNotTell) {
  Landscape landscape = true_landscape();
  landscape.models = {{"model", 0, 0}};
  landscape.tuning.tunable = 0;
  const std::vector<RecordedSearch> searches{simulated(landscape, "best-of-n", 1, 1),
                                             simulated(landscape, "best-of-n", 1, 2)};
  const Fit found = fit(searches, usual_landscape(), {"x", "two calls", 20, 5});
  EXPECT_EQ(found.landscape.tuning.gap, usual_landscape().tuning.gap);
  EXPECT_EQ(found.landscape.models.front().dollars, 0.02);
  EXPECT_EQ(found.landscape.sources.at("models/model"), "made up");
  EXPECT_EQ(found.landscape.gains.improves, usual_landscape().gains.improves);
  EXPECT_THAT(found.notes, Contains("the records say nothing of [tuning]"));
}

TEST(Fit, NeedsAJudgedReply) {
  EXPECT_THROW(fit({RecordedSearch{}}, usual_landscape(), {}), UsageError);
}

std::string published_text() {
  return read_file(std::filesystem::path(WINNOW_SOURCE_DIR) /
                       "configs/landscapes/statistics/metal-sci.toml",
                   1U << 20U);
}

TEST(PublishedStatistics, MatchTheShippedLandscape) {
  const PublishedStatistics published = parse_statistics(published_text(), "metal-sci.toml");
  Landscape shipped = read_landscape(std::filesystem::path(WINNOW_SOURCE_DIR) /
                                     "configs/landscapes/published.toml");
  shipped.tuning.tunable = 0; // the published loops had no tuner
  const auto simulated = simulated_statistics(shipped, search::preset("one-plus-one").policy, {},
                                              published.calls_per_search, 200);
  double squares = 0;
  for (const Statistic& recorded : published.statistics) {
    for (const Statistic& own : simulated) {
      if (own.name == recorded.name) {
        squares += std::pow((own.value - recorded.value) / recorded.error, 2);
      }
    }
  }
  EXPECT_LT(squares / static_cast<double>(published.statistics.size()), 1.5);
}

TEST(PublishedStatistics, NoTextCrashesTheReader) {
  const std::string text = published_text();
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::string hostile = text;
    hostile[i] = "\"[]={}9-\n"[i % 9];
    for (const std::string& each : {hostile, text.substr(0, i)}) {
      try {
        parse_statistics(each, "x.toml");
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.toml"));
      }
    }
  }
}

TEST(Minimise, FindsTheBottomOfAValley) {
  const auto valley = [](const std::vector<double>& at) {
    return std::pow(1 - at[0], 2) + 10 * std::pow(at[1] - at[0] * at[0], 2);
  };
  const std::vector<double> bottom = minimise(valley, {-1, 2}, 0.5, 300);
  EXPECT_NEAR(bottom[0], 1, 0.01);
  EXPECT_NEAR(bottom[1], 1, 0.01);
}

} // namespace
} // namespace winnow::lab
