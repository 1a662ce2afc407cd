// Calls that build on the same kernels at the same time get different missions.
#include "search/testing/archive_search_fixture.h"
#include "search/testing/preset_search_fixture.h"

#include <cmath>
#include <map>
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

TEST_F(Missions, WhenAllAreTakenTheyAreTakenAgain) {
  begin_with({.proposals = 60, .seeds = 50});
  std::map<std::string, int> repeats;
  for (int i = 0; i < 31; ++i) {
    const Ask call = ask();
    EXPECT_EQ(call.mission_repeats, i <= 10 ? 0 : (i - 1) / 10) << i;
    ++repeats[call.mission];
  }
  EXPECT_EQ(repeats.size(), 11U) << "ten for seeds, and none";
  EXPECT_EQ(repeats.at("seed 3"), 3);
}

TEST_F(Missions, ADirectionThatPaysComesBeforeOneThatFits) {
  begin_with({.proposals = 60, .seeds = 1});
  const CandidateId parent = answer(ask(), fast(2, kMemory));
  const auto three = [&] {
    std::vector<Ask> calls;
    for (int i = 0; i < 3; ++i) {
      calls.push_back(ask());
      EXPECT_EQ(calls.back().parents.front(), calls.front().parents.front());
    }
    return calls;
  };
  std::vector<Ask> calls = three();
  EXPECT_EQ(calls.front().parents.front(), parent);
  EXPECT_EQ(calls[1].mission, "fewer bytes");
  const std::string paid = calls[2].mission;
  answer(calls[2], fast(3, kMemory));
  answer(calls[1], fast(1.9, kMemory));
  answer(calls[0], fast(1.9, kMemory));
  calls = three();
  EXPECT_EQ(calls[1].mission, paid);
  EXPECT_EQ(calls[2].mission, "fewer bytes");
}

TEST_F(Missions, ACopyCostsItsDirectionMoreThanAFailure) {
  begin_with({.proposals = 60, .seeds = 50});
  std::vector<Ask> calls;
  for (int i = 0; i < 11; ++i) {
    calls.push_back(ask());
  }
  Outcome original = fast(2, "a cell");
  original.code = "machine code and launches";
  original.device_seconds = 3;
  answer(calls[0], original);
  Outcome copy = original;
  copy.kernel = "another text";
  copy.device_seconds = 0.1; // nothing was run again
  for (std::size_t i = 1; i < calls.size(); ++i) {
    answer(calls[i], i == 1 ? copy : failed(tasks::Verdict::Wrong));
  }
  std::vector<std::string> order;
  for (int i = 0; i < 11; ++i) {
    order.push_back(ask().mission);
  }
  EXPECT_EQ(order.back(), calls[1].mission);
}

TEST_F(Missions, TheSameTextAgainIsACopyTooAlsoIfTheFirstOneWasTuned) {
  begin_with({.proposals = 60, .seeds = 50});
  ask();
  const Ask first = ask(), second = ask();
  search_->apply(Added{++last_, first.key, 0, {{{"BLOCK", 1}}, {{"BLOCK", 2}}}});
  judge(last_, fast(2)); // of the default choice
  while (true) {
    const auto action = search_->decide({});
    const auto what = std::get<Evaluate>(action.value());
    search_->apply(Decided{*action, {}});
    if (!what.is_heat()) {
      search_->apply(Evaluated{what.candidate, fast(3)});
      break;
    }
    Tried tried{what.candidate, {}, 0};
    for (const tasks::ParameterChoice& choice : what.choices) {
      tried.trials.push_back(
          {choice, tasks::Verdict::NotJudged, "", {static_cast<double>(choice.at("BLOCK"))}});
    }
    search_->apply(tried);
  }
  answer(second, fast(2)); // the text of the first one
  for (const Earnings& earned : search_->earnings_of_missions()) {
    EXPECT_EQ(earned.copies, earned.op == second.mission ? 1 : 0) << earned.op;
  }
  EXPECT_EQ(search_->earnings().front().copies, 1);
}

TEST_F(Missions, AStructureThatNoKernelHasComesFirst) {
  Settings settings{.proposals = 60, .seeds = 50};
  settings.missions = {
      {"held", "", true, "cp.async"}, {"free", "", true, ""}, {"lacking", "", true, "mma"}};
  begin(settings);
  const std::vector<Ask> first{ask(), ask(), ask(), ask()};
  EXPECT_EQ(first[1].mission, "held") << "nothing is known yet";
  answer(first[0], fast(2, "1 kernel, cp.async"));
  for (std::size_t i = 1; i < first.size(); ++i) {
    answer(first[i], failed(tasks::Verdict::Wrong));
  }
  ask();
  EXPECT_EQ(ask().mission, "lacking");
  EXPECT_EQ(ask().mission, "free");
  EXPECT_EQ(ask().mission, "held");
}

TEST_F(Missions, TellWhatEachHasEarned) {
  begin_with({.proposals = 60, .seeds = 50});
  EXPECT_TRUE(search_->earnings_of_missions().empty());
  const Ask none = ask(), good = ask(), bad = ask();
  answer(none, fast(1.5));
  answer(good, fast(3), 0.25);
  answer(bad, failed(tasks::Verdict::Wrong));
  std::map<std::string, Earnings> earned;
  for (const Earnings& own : search_->earnings_of_missions()) {
    earned[own.op] = own;
  }
  EXPECT_EQ(earned.size(), 3U);
  EXPECT_EQ(earned.at("").calls, 1);
  EXPECT_GT(earned.at("").log_gain, 0.3);
  EXPECT_NEAR(earned.at(good.mission).log_gain, std::log(2), 1e-9);
  EXPECT_EQ(earned.at(good.mission).dollars, 0.25);
  EXPECT_EQ(earned.at(bad.mission).correct, 0);
  EXPECT_EQ(earned.at(bad.mission).log_gain, 0);
}

/// What the words of a call follow from, when nothing else differs.
std::string words_of(Ask call) {
  call.key = call.model = "";
  call.lineage = 0;
  return entry_of(Decided{call, {}}).detail;
}

class NoTwoAlike : public PresetSearchTest {
protected:
  /// All calls that may be under way at once, but not more than eight.
  std::vector<Ask> in_flight() {
    std::vector<Ask> calls;
    while (calls.size() < 8 && !waits()) {
      calls.push_back(ask());
    }
    return calls;
  }
};

// The call of a judge has the words of its own role, so roles are left out. The calls of best-of-n
// are independent samples.
TEST_F(NoTwoAlike, InAnyOtherStrategyAtAnyTime) {
  for (const Preset& own : presets()) {
    if (own.name == "best-of-n") {
      continue;
    }
    Settings settings{.proposals = 200, .lineages = 8, .seeds = 8};
    settings.missions = missions();
    begin(own.policy, settings);
    std::size_t most = 0;
    for (int generation = 0; generation < 6; ++generation) {
      const std::vector<Ask> calls = in_flight();
      std::set<std::string> words;
      for (const Ask& call : calls) {
        words.insert(words_of(call));
      }
      EXPECT_EQ(words.size(), calls.size()) << own.name << ", generation " << generation;
      most = std::max(most, calls.size());
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const int n = generation * 8 + static_cast<int>(i);
        answer(calls[i], generation == 1 || i == 3 ? failed(tasks::Verdict::Wrong)
                                                   : fast(1 + 0.1 * n, i % 2 == 0 ? "a" : "b"));
      }
    }
    EXPECT_EQ(most, own.policy.round == 4 && own.policy.is_archive() ? 4 : 8) << own.name;
  }
}

// An endpoint that answers one call at a time asks a round, or independent calls, one by one.
TEST_F(NoTwoAlike, WhenAReplyComesBeforeTheNextCallBegins) {
  for (const char* name : {"fsr", "max-reward", "map-elites", "evoengineer"}) {
    Settings settings{.proposals = 100};
    settings.missions = missions();
    begin(preset(name).policy, settings);
    std::set<std::string> words;
    for (int i = 0; i < 4; ++i) {
      const Ask call = ask();
      words.insert(words_of(call));
      answer(call, fast(2 + 0.01 * i));
    }
    EXPECT_EQ(words.size(), 4U) << name;
  }
}

TEST_F(NoTwoAlike, WithoutMissionsTheyAre) {
  Settings settings{.proposals = 8};
  settings.missions = missions();
  begin(preset("best-of-n").policy, settings);
  EXPECT_EQ(words_of(ask()), words_of(ask()));
  begin("fsr");
  EXPECT_EQ(words_of(ask()), words_of(ask()));
}

TEST(MissionsOfCalls, AreInTheLog) {
  Ask ask;
  ask.key = "axpy/0/3";
  ask.mission = "fewer bytes";
  ask.mission_repeats = 2;
  const Event again = event_of(entry_of(Decided{ask, {}}));
  EXPECT_EQ(std::get<Ask>(std::get<Decided>(again).action), ask);
}

} // namespace
} // namespace winnow::search::test
