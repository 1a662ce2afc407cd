#include "base/error.h"
#include "lab/session.h"
#include "lab/testing/landscape_fake.h"
#include "lab/world.h"

#include <cmath>
#include <optional>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::lab {
namespace {

using search::preset;

std::vector<std::string> log_of(const SessionResult& result) {
  std::vector<std::string> log;
  for (const search::Event& event : result.events) {
    const search::LogEntry entry = entry_of(event);
    log.push_back(entry.kind + " " + entry.detail);
  }
  return log;
}

SessionResult session(const std::string& strategy, const Limits& limits, std::uint64_t seed = 1,
                      const Landscape& landscape = usual_landscape(), Machine machine = {}) {
  return simulate(landscape, preset(strategy).policy, {limits, machine, {}, true}, seed);
}

std::vector<double> prices(const SessionResult& result) {
  std::vector<double> all;
  for (const ModelCall& call : result.calls) {
    all.push_back(call.dollars);
  }
  return all;
}

TEST(Session, FollowsFromItsSeed) {
  for (const search::Preset& each : search::presets()) {
    const auto log = log_of(session(each.name, {20, 0, 0}, 7));
    EXPECT_EQ(log, log_of(session(each.name, {20, 0, 0}, 7))) << each.name;
    EXPECT_NE(log, log_of(session(each.name, {20, 0, 0}, 8))) << each.name;
  }
}

TEST(Session, EqualCallsOfDifferentPoliciesHaveEqualLuck) {
  const SessionResult one = session("one-plus-one", {12, 0, 0}, 3);
  const SessionResult other = session("best-of-n", {12, 0, 0}, 3);
  EXPECT_EQ(prices(one), prices(other));
  // The first call of both asks to improve the baseline: the kernels are the same.
  ASSERT_GE(one.curve.size(), 2U);
  const auto first_outcome = [](const SessionResult& result) {
    for (const search::Event& event : result.events) {
      const auto* evaluated = std::get_if<search::Evaluated>(&event);
      if (evaluated != nullptr && evaluated->candidate == 2) {
        return evaluated->outcome;
      }
    }
    return search::Outcome{};
  };
  EXPECT_EQ(first_outcome(one).verdict, first_outcome(other).verdict);
  EXPECT_EQ(first_outcome(one).speedup, first_outcome(other).speedup);
}

TEST(Session, KeepsItsLimits) {
  for (const search::Preset& each : search::presets()) {
    EXPECT_LE(session(each.name, {9, 0, 0}).calls.size(), 9U) << each.name;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      double spent = 0;
      for (const double price : prices(session(each.name, {0, 0.2, 0}, seed))) {
        spent += price;
      }
      EXPECT_LE(spent, 0.2) << each.name;
      EXPECT_GT(spent, 0.05) << each.name;
    }
    const SessionResult timed = session(each.name, {0, 0, 12});
    EXPECT_GE(timed.curve.back().device_seconds, 8) << each.name;
    EXPECT_LE(timed.curve.back().device_seconds, 20) << each.name; // the last one may end later
    EXPECT_LE(timed.calls.size(), 50U) << each.name;
  }
  EXPECT_ANY_THROW(session("archive", {0, 0, 0}));
}

TEST(Session, CurvesRiseAndSpend) {
  const SessionResult result = session("archive", {30, 0, 0}, 2);
  for (std::size_t i = 1; i < result.curve.size(); ++i) {
    const CurvePoint& before = result.curve[i - 1];
    const CurvePoint& after = result.curve[i];
    EXPECT_LE(before.best, after.best);
    EXPECT_LE(before.calls, after.calls);
    EXPECT_LE(before.dollars, after.dollars);
    EXPECT_LE(before.device_seconds, after.device_seconds);
    EXPECT_LE(before.seconds, after.seconds);
  }
  EXPECT_EQ(result.curve.back().calls, 30U);
  EXPECT_GT(result.curve.back().best, 0);
}

TEST(Session, ParallelCallsAndDevicesSaveTime) {
  const auto hours = [](int parallel, int devices) {
    return session("best-of-n", {24, 0, 0}, 1, usual_landscape(), {parallel, devices})
        .curve.back()
        .seconds;
  };
  EXPECT_LT(hours(8, 1), hours(1, 1) / 4);
  Landscape slow_device = usual_landscape();
  slow_device.device.right = 500;
  const auto busy = [&](int devices) {
    return session("best-of-n", {24, 0, 0}, 1, slow_device, {24, devices}).curve.back().seconds;
  };
  EXPECT_LT(busy(4), busy(1) / 2);
}

TEST(Session, TasksWithoutABaselineBeginWithSeeds) {
  Landscape landscape = usual_landscape();
  landscape.task.has_baseline = false;
  const SessionResult result = session("archive", {6, 0, 0}, 1, landscape);
  const auto* decided = std::get_if<search::Decided>(&result.events.front());
  ASSERT_NE(decided, nullptr);
  EXPECT_EQ(std::get<search::Ask>(decided->action).op, "seed");
  EXPECT_EQ(result.curve.back().calls, 6U);
}

TEST(Session, TuningFindsWhatTheDefaultLacks) {
  Landscape landscape = usual_landscape();
  landscape.tuning = {1, 12, 0.5};
  landscape.hidden.slow = 0;
  double tuned = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const search::Event& event : session("best-of-n", {5, 0, 0}, seed, landscape).events) {
      if (const auto* evaluated = std::get_if<search::Evaluated>(&event)) {
        tuned += evaluated->outcome.kernel.ends_with("/0") ? 0 : 1; // another choice in full
      }
    }
  }
  EXPECT_GT(tuned, 40);
}

TEST(Session, WrongKernelsNeverLead) {
  Landscape landscape = usual_landscape();
  for (VerdictShares& shares : landscape.verdicts) {
    shares = {{tasks::Verdict::Correct, 0}, {tasks::Verdict::Wrong, 1}};
  }
  EXPECT_EQ(session("archive", {20, 0, 0}, 1, landscape).curve.back().best, 0);
}

/// `text` with each of its numbers replaced by a small or a large one, one at a time.
std::vector<std::string> with_other_numbers(const std::string& text) {
  static const std::regex number(R"(= ([0-9][0-9.e+-]*))");
  std::vector<std::string> changed;
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at) {
    for (const char* other : {"0", "1e-9", "1", "10", "1000", "1e6"}) {
      std::string one = text;
      changed.push_back(one.replace(static_cast<std::size_t>(at->position(1)),
                                    static_cast<std::size_t>(at->length(1)), other));
    }
  }
  return changed;
}

TEST(Session, EndsInEveryLandscapeThatIsAccepted) {
  int accepted = 0;
  for (const std::string& text : with_other_numbers(landscape_toml(usual_landscape()))) {
    std::optional<Landscape> landscape;
    try {
      landscape = parse_landscape(text, "x.toml");
    } catch (const UsageError&) { // out of range
      continue;
    }
    ++accepted;
    const SessionResult result = session("archive", {4, 0, 0}, 1, *landscape);
    EXPECT_TRUE(std::isfinite(result.curve.back().best)) << text;
  }
  EXPECT_GE(accepted, 40);
}

TEST(MeanHeight, IsTheAreaDividedByTheBudget) {
  const std::vector<CurvePoint> curve{{0, 0, 0, 0, 0, 0}, {1, 1, 5, 0, 1, 1}, {3, 2, 9, 0, 2, 2}};
  EXPECT_DOUBLE_EQ(mean_height(curve, Axis::Calls, 4), (0 + 1 + 1 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(mean_height(curve, Axis::Calls, 2), 0.5);
  EXPECT_DOUBLE_EQ(mean_height(curve, Axis::Dollars, 2), 0.5);
  EXPECT_DOUBLE_EQ(mean_height(curve, Axis::DeviceSeconds, 10), (4 * 1 + 1 * 2) / 10.0);
}

} // namespace
} // namespace winnow::lab
