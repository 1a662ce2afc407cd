// Calls that build on the same kernels at the same time get different missions.
#include "search/testing/archive_search_fixture.h"

#include <set>

#include <gmock/gmock.h>

namespace winnow::search::test {
namespace {

constexpr const char* kMemory = "1 kernel, limited by DRAM bandwidth";

/// Ten for seeds and ten for changes.
std::vector<Mission> missions() {
  std::vector<Mission> all{{"fewer bytes", "DRAM bandwidth", false}};
  for (int i = 1; i < 10; ++i) {
    all.push_back({"change " + std::to_string(i), i % 2 == 0 ? "latency" : "", false});
  }
  for (int i = 0; i < 10; ++i) {
    all.push_back({"seed " + std::to_string(i), "", true});
  }
  return all;
}

class Missions : public ArchiveSearchTest {
protected:
  void begin_with(Settings settings, const Policy& policy = preset("archive").policy) {
    settings.missions = missions();
    begin(std::move(settings), policy);
  }

  /// What the next calls are told, all of them under way at once.
  std::multiset<std::string> next(int calls) {
    std::multiset<std::string> told;
    for (int i = 0; i < calls; ++i) {
      told.insert(ask().mission);
    }
    return told;
  }
};

std::set<std::string> different(const std::multiset<std::string>& told) {
  return {told.begin(), told.end()};
}

TEST_F(Missions, EightSeedsOfOneParentHaveEightOfThem) {
  begin_with({.proposals = 20, .seeds = 8});
  const auto told = next(8);
  EXPECT_EQ(different(told).size(), 8U);
  EXPECT_EQ(told.count(""), 1U) << "the first call was alone";
}

TEST_F(Missions, EightChainsFromOneKernelHaveEightOfThem) {
  Settings settings{.task = "axpy", .proposals = 16, .lineages = 8};
  settings.missions = missions();
  settings.evaluator_version = kThisEvaluator;
  const auto search = make_search("one-plus-one", settings);
  search->apply(Added{kFirst, "", 0});
  const auto judged = search->decide({});
  search->apply(Decided{*judged, {}});
  search->apply(Evaluated{kFirst, fast(1, kMemory)});
  std::vector<std::string> told;
  for (int i = 0; i < 8; ++i) {
    const auto action = search->decide(kACall);
    search->apply(Decided{*action, kACall});
    told.push_back(std::get<Ask>(*action).mission);
  }
  EXPECT_EQ(std::set<std::string>(told.begin(), told.end()).size(), 8U);
  EXPECT_EQ(told[1], "fewer bytes") << "the one that fits the limiter";
}

TEST_F(Missions, ACallThatIsAloneHasNone) {
  begin_with({.proposals = 20, .seeds = 1});
  const Ask first = ask();
  EXPECT_EQ(first.mission, "");
  answer(first, fast(2));
  EXPECT_EQ(ask().mission, "");
}

TEST_F(Missions, ThePolicyCanLeaveThemOut) {
  Policy without = preset("archive").policy;
  without.missions = false;
  begin_with({.proposals = 20, .seeds = 8}, without);
  EXPECT_EQ(next(8).count(""), 8U);
}

TEST_F(Missions, WhatGainedIsToldBeforeWhatDidNot) {
  begin_with({.proposals = 60, .seeds = 50});
  std::vector<Ask> calls;
  for (int i = 0; i < 11; ++i) {
    calls.push_back(ask());
  }
  const std::string good = calls[3].mission;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    answer(calls[i], i == 3 ? fast(4, "another") : failed(tasks::Verdict::Wrong));
  }
  ask();
  EXPECT_EQ(ask().mission, good);
}

TEST_F(Missions, WhenAllAreTakenACallHasNone) {
  begin_with({.proposals = 60, .seeds = 50});
  const auto told = next(20);
  EXPECT_EQ(different(told).size(), 11U) << "ten for seeds, and none";
}

TEST(MissionsOfCalls, AreInTheLog) {
  Ask ask;
  ask.key = "axpy/0/3";
  ask.mission = "fewer bytes";
  const Event again = event_of(entry_of(Decided{ask, {}}));
  EXPECT_EQ(std::get<Ask>(std::get<Decided>(again).action), ask);
}

} // namespace
} // namespace winnow::search::test
