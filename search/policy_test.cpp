// Presets and their ablations as data, and what holds for all of them.
#include "base/digest.h"
#include "base/error.h"
#include "search/policy.h"
#include "search/testing/preset_search_fixture.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::failed;
using test::fast;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<Ablation>& ablations) {
  std::vector<std::string> names;
  names.reserve(ablations.size());
  for (const Ablation& ablation : ablations) {
    names.push_back(ablation.without);
  }
  return names;
}

TEST(Presets, HaveNamesOfTheirOwnAndAPaperOrNone) {
  std::set<std::string> names;
  for (const Preset& own : presets()) {
    EXPECT_TRUE(names.insert(own.name).second) << own.name;
    EXPECT_TRUE(own.summary.ends_with(".")) << own.name;
    EXPECT_TRUE(own.source.empty() || own.source.starts_with("arXiv 2")) << own.name;
  }
  EXPECT_EQ(names.size(), 13U);
}

TEST(Presets, AreUnlikeOneAnother) {
  for (const Preset& own : presets()) {
    for (const Preset& other : presets()) {
      const bool is_same = own.policy == other.policy && own.roles == other.roles;
      EXPECT_EQ(is_same, own.name == other.name) << own.name << " and " << other.name;
    }
  }
}

TEST(Presets, AnUnknownNameIsAnErrorWithTheNearestOne) {
  try {
    preset("cuda-forge");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'cudaforge'?"));
  }
}

TEST(Ablations, OfTheArchiveAreItsMechanisms) {
  EXPECT_THAT(names_of(ablations(preset("archive").policy)),
              ElementsAre("repair", "tuning", "missions", "cells", "PUCT", "lineage blocking",
                          "refusal of regressed parents", "seeds", "bandit", "diff", "rewrite",
                          "crossover", "contrast", "failures", "history"));
}

TEST(Ablations, OfALineage) {
  EXPECT_THAT(names_of(ablations(preset("one-plus-one").policy)),
              ElementsAre("repair", "tuning", "missions", "hiding of regressions",
                          "the fastest as parent", "opening", "the best kernel", "history"));
  EXPECT_THAT(names_of(ablations(preset("best-of-n").policy)), ElementsAre("tuning"));
}

TEST(Ablations, ChangeThePolicyAndLackTheirMechanism) {
  for (const Preset& own : presets()) {
    for (const Ablation& ablation : ablations(own.policy)) {
      EXPECT_FALSE(ablation.policy == own.policy) << own.name << " without " << ablation.without;
      const auto left = names_of(ablations(ablation.policy));
      EXPECT_EQ(std::count(left.begin(), left.end(), ablation.without), 0)
          << own.name << " without " << ablation.without;
    }
  }
}

/// A preset, or a preset without one of its mechanisms.
struct Case {
  std::string name;
  Policy policy;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Preset& own : presets()) {
    cases.push_back({own.name, own.policy});
    for (const Ablation& ablation : ablations(own.policy)) {
      cases.push_back({own.name + " without " + ablation.without, ablation.policy});
    }
  }
  return cases;
}

class EveryPolicyTest : public test::PresetSearchTest {
protected:
  /// The reply to the n-th call: failures of each kind, and kernels that become slowly faster.
  static Outcome nth(int n) {
    switch (n % 7) {
    case 1:
      return failed(Verdict::CompileError);
    case 3:
      return failed(Verdict::Wrong);
    case 5:
      return failed(Verdict::BadReply);
    default:
      return fast(0.8 + 0.07 * n, "cell " + std::to_string(n % 4));
    }
  }

  /// Several calls at once, answered out of order, with faults and silence in between. Goes on
  /// until nothing is left to do.
  void play() {
    std::vector<Ask> open;
    for (int n = 0; n < 300; ++n) {
      const auto action = search_->decide({3 - static_cast<int>(open.size())});
      if (!action && open.empty()) {
        return;
      }
      if (!action) {
        const std::size_t next = n % 2 == 0 ? open.size() - 1 : 0;
        const Ask answered = open[next];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
        if (n % 11 == 4) {
          apply(Unanswered{answered.key});
          apply(Resumed{}); // the call is sent again
        }
        reply(answered);
      } else if (const auto* asked = std::get_if<Ask>(&*action)) {
        apply(Decided{*action, {3 - static_cast<int>(open.size())}});
        open.push_back(*asked);
      } else {
        apply(Decided{*action, {3 - static_cast<int>(open.size())}});
        const CandidateId candidate = std::get<Evaluate>(*action).candidate;
        if (n % 13 == 6) {
          apply(Faulted{candidate});
        } else {
          apply(Evaluated{candidate, candidate == 1 ? fast(1) : nth(static_cast<int>(candidate))});
        }
      }
    }
    FAIL() << "the search does not end";
  }
};

TEST_F(EveryPolicyTest, EndsAfterItsCallsAndDecidesAsItsLogSays) {
  for (const Case& one : all_cases()) {
    for (const bool has_baseline : {true, false}) {
      SCOPED_TRACE(one.name + (has_baseline ? "" : ", no baseline"));
      begin(one.policy, {.proposals = 26,
                         .lineages = 2,
                         .has_baseline = has_baseline,
                         .models = {"cheap", "dear"}});
      play();
      EXPECT_EQ(search_->asks(), 26U);
      replay();
    }
  }
}

// A run that an earlier Winnow has begun goes on as it would have there, and a recording brings the
// same kernels.
TEST_F(EveryPolicyTest, DecidesAsEarlierVersionsDid) {
  std::map<std::string, std::string> digests;
  for (const Preset& own : presets()) {
    begin(own.policy, {.proposals = 40, .lineages = 2, .models = {"cheap", "dear"}});
    play();
    std::string log;
    for (const LogEntry& entry : log_) {
      log += entry.kind + entry.detail + "\n";
    }
    digests[own.name] = sha256_hex(log).substr(0, 8);
  }
  const std::map<std::string, std::string> of_earlier_versions{
      {"archive", "22bf0696"},     {"astra", "b306b2f2"},     {"best-of-n", "c2fbcf0f"},
      {"contrastive", "bef475f0"}, {"cudaforge", "afc0355b"}, {"evoengineer", "03cf3f04"},
      {"forecast", "d65471cf"},    {"fsr", "43410de5"},       {"map-elites", "45af6544"},
      {"max-reward", "cdddcbdf"},  {"meta", "47a51c4c"},      {"metal-sci", "70b0c7ee"},
      {"one-plus-one", "3655e233"}};
  EXPECT_EQ(digests, of_earlier_versions);
}

TEST_F(EveryPolicyTest, GivesEachOperatorTheKernelsThatItNeeds) {
  const std::set<std::string> without_parent{"improve", "seed"};
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.name);
    begin(one.policy, {.proposals = 26, .has_baseline = false});
    play();
    for (const LogEntry& entry : log_) {
      const Event event = event_of(entry);
      const auto* decided = std::get_if<Decided>(&event);
      const Ask* asked = decided != nullptr ? std::get_if<Ask>(&decided->action) : nullptr;
      if (asked != nullptr) {
        EXPECT_TRUE(!asked->parents.empty() || without_parent.contains(asked->op)) << asked->op;
        EXPECT_EQ(asked->second.has_value(), asked->op == "crossover" || asked->op == "contrast");
      }
    }
  }
}

TEST_F(EveryPolicyTest, WithoutTuningAFamilyIsJudgedAsItIs) {
  Policy policy = preset("one-plus-one").policy;
  policy.tuning = false;
  begin(policy, {.proposals = 2});
  apply(Added{++last_, ask().key, 0, {{{"BLOCK", 1}}, {{"BLOCK", 2}}}});
  judge(fast(2));
  EXPECT_TRUE(search_->find(last_)->outcome);
  EXPECT_TRUE(std::holds_alternative<Ask>(search_->decide(capacity_).value()));
}

} // namespace
} // namespace winnow::search
