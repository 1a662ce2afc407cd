// The first decisions of the published loops with an archive, as their papers tell them.
#include "search/testing/preset_search_fixture.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::failed;
using test::fast;
using test::kFirst;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

class PresetArchiveTest : public test::PresetSearchTest {
protected:
  const std::map<std::string, CandidateId>& cells() const {
    return dynamic_cast<const ArchiveSearch&>(*search_).cells();
  }
};

TEST_F(PresetArchiveTest, MapElitesDrawsParentsFromTheElitesInGenerations) {
  begin("map-elites");
  const std::vector<Ask> generation = asks(8);
  EXPECT_TRUE(waits()) << "one barrier for each generation";
  for (const Ask& call : generation) {
    EXPECT_THAT(call.parents, ElementsAre(kFirst));
    EXPECT_EQ(call.op, "insights");
    EXPECT_THAT(call.families, IsEmpty());
  }
  for (int i = 0; i < 7; ++i) {
    answer(generation[static_cast<std::size_t>(i)], fast(2 + i, "cell " + std::to_string(i)));
    EXPECT_THAT(cells(), SizeIs(1)) << "the generation is not over";
  }
  answer(generation[7], failed(Verdict::CompileError));
  EXPECT_THAT(cells(), SizeIs(9)) << "an empty cell is always filled, even by a failing kernel";
  const Ask next = ask();
  EXPECT_NE(next.parents.front(), kFirst);
  EXPECT_THAT(next.families, SizeIs(2)) << "two inspirations";
  for (const Card& inspiration : next.families) {
    EXPECT_NE(inspiration.candidate, next.parents.front());
  }
}

TEST_F(PresetArchiveTest, MapElitesExploitsFastCellsAndExploresAnyKernel) {
  std::map<CandidateId, int> chosen;
  constexpr int kRuns = 300;
  for (int run = 0; run < kRuns; ++run) {
    begin("map-elites", 100, static_cast<std::uint64_t>(run));
    const std::vector<Ask> generation = asks(8);
    for (int i = 0; i < 8; ++i) {
      answer(generation[static_cast<std::size_t>(i)], fast(1 + i, i % 2 == 0 ? "a" : "b"));
    }
    ++chosen[ask().parents.front()];
  }
  // Cell a has 7x and cell b has 8x; e^1 : 1. Any of nine kernels has 0.3 / 9 more.
  EXPECT_NEAR(chosen[9], kRuns * (0.7 * 0.73 + 0.3 / 9), 35);
  EXPECT_NEAR(chosen[8], kRuns * (0.7 * 0.27 + 0.3 / 9), 30);
  int others = 0;
  for (CandidateId id = 1; id < 8; ++id) {
    others += chosen[id];
  }
  EXPECT_NEAR(others, kRuns * 0.3 * 7 / 9, 35);
}

TEST_F(PresetArchiveTest, MapElitesReplacesAFailureByWhatCameFurther) {
  Policy policy = preset("map-elites").policy;
  policy.round = 0;
  begin(policy, {.proposals = 100});
  const auto in_cell = [](Outcome outcome) {
    outcome.cell = "x";
    return outcome;
  };
  answer(ask(), failed(Verdict::BadReply));
  EXPECT_FALSE(cells().contains("x")) << "there is no code";
  const CandidateId broken = answer(ask(), in_cell(failed(Verdict::CompileError)));
  EXPECT_EQ(cells().at("x"), broken);
  const CandidateId wrong = answer(ask(), in_cell(failed(Verdict::Wrong)));
  EXPECT_EQ(cells().at("x"), wrong);
  answer(ask(), in_cell(failed(Verdict::CompileError)));
  EXPECT_EQ(cells().at("x"), wrong);
  const CandidateId slow = answer(ask(), fast(0.1, "x"));
  EXPECT_EQ(cells().at("x"), slow);
}

TEST_F(PresetArchiveTest, ContrastiveShowsAFasterAndASlowerKernelInEachCall) {
  begin("contrastive");
  const std::vector<Ask> seeds = asks(3);
  for (const Ask& seed : seeds) {
    EXPECT_EQ(seed.op, "seed") << "there is nothing to compare yet";
  }
  answer(seeds[0], fast(2));
  answer(seeds[1], fast(4));
  answer(seeds[2], failed(Verdict::Wrong));
  std::set<CandidateId> faster;
  for (int i = 3; i < 40; ++i) {
    const Ask call = ask();
    ASSERT_EQ(call.op, "contrast");
    const Outcome& fast_one = *search_->find(call.parents.front())->outcome;
    const Outcome& slow_one = *search_->find(call.second->candidate)->outcome;
    EXPECT_GT(fast_one.speedup, slow_one.speedup);
    faster.insert(call.parents.front());
    answer(call, fast(i % 2 == 0 ? 1.2 : 3));
  }
  EXPECT_GT(faster.size(), 2U) << "exemplars are drawn anew";
}

TEST_F(PresetArchiveTest, MetaBuildsRoundsOfFourOnItsFiveFastestKernels) {
  begin("meta");
  const std::vector<Ask> seeds = asks(4);
  EXPECT_TRUE(waits());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(seeds[i].op, "seed");
    answer(seeds[i], fast(2 + static_cast<double>(i)));
  }
  const std::vector<Ask> round = asks(4);
  EXPECT_THAT(round, ElementsAre(Field(&Ask::op, "rewrite"), Field(&Ask::op, "crossover"),
                                 Field(&Ask::op, "rewrite"), Field(&Ask::op, "crossover")));
  EXPECT_TRUE(waits());
  for (const Ask& call : round) {
    answer(call, fast(6));
  }
  EXPECT_THAT(cells(), SizeIs(5));
  EXPECT_FALSE(cells().contains(std::to_string(kFirst))) << "the slowest ones leave";
  for (const Ask& call : asks(2)) {
    EXPECT_TRUE(cells().contains(std::to_string(call.parents.front())));
  }
}

TEST_F(PresetArchiveTest, ARoundWaitsForACallWithoutAReply) {
  begin("meta");
  const std::vector<Ask> round = asks(4);
  for (std::size_t i = 1; i < 4; ++i) {
    answer(round[i], fast(2));
  }
  apply(Unanswered{round[0].key});
  EXPECT_TRUE(waits());
  apply(Resumed{});
  EXPECT_TRUE(waits());
  answer(round[0], fast(2));
  EXPECT_NE(ask().op, "seed");
}

TEST_F(PresetArchiveTest, ForecastBuildsBatchesOnTwoUnrelatedParents) {
  begin("forecast");
  std::vector<Ask> batch = asks(4); // one kernel: one parent with four mutations
  EXPECT_TRUE(waits()) << "no other parent is unrelated";
  for (const Ask& call : batch) {
    EXPECT_EQ(call.op, "rewrite");
    EXPECT_THAT(call.parents, ElementsAre(kFirst));
  }
  std::vector<CandidateId> children;
  for (const Ask& call : batch) {
    const double speed = 1.1 + static_cast<double>(children.size());
    children.push_back(answer(call, children.size() == 3 ? failed(Verdict::Wrong) : fast(speed)));
  }
  batch = asks(8);
  EXPECT_TRUE(waits());
  std::set<CandidateId> parents;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(batch[i].parents, batch[i / 4 * 4].parents);
    parents.insert(batch[i].parents.front());
  }
  EXPECT_THAT(parents, SizeIs(2));
  EXPECT_FALSE(parents.contains(kFirst)) << "it is an ancestor of the other parent";
  EXPECT_FALSE(parents.contains(children[3])) << "failures never become parents";
  EXPECT_TRUE(parents.contains(children[2])) << "the fastest kernel has the highest score";
}

TEST_F(PresetArchiveTest, EvoEngineerTakesTurnsAtCrossoverAndMutationOverFiveElites) {
  begin("evoengineer");
  std::vector<Ask> round = asks(4);
  EXPECT_TRUE(waits());
  for (const Ask& call : round) {
    EXPECT_EQ(call.op, "seed") << "the population is filled first";
    answer(call, fast(1.5 + 0.1 * static_cast<double>(last_)));
  }
  round = asks(4);
  EXPECT_TRUE(waits());
  std::vector<std::string> operators;
  for (const Ask& call : round) {
    operators.push_back(call.op);
    if (call.op == "crossover") {
      EXPECT_THAT(call.parents, SizeIs(2));
      EXPECT_NE(call.parents[0], call.parents[1]);
    } else {
      EXPECT_THAT(call.families, SizeIs(3)) << "three insights";
    }
    EXPECT_EQ(call.best->candidate, 5) << "the best kernel is always told of";
  }
  EXPECT_THAT(operators, ElementsAre("crossover", "insights", "crossover", "insights"));
  for (const Ask& call : round) {
    answer(call, failed(Verdict::Wrong));
  }
  EXPECT_THAT(cells(), SizeIs(5));
  for (const Ask& call : asks(2)) {
    EXPECT_TRUE(cells().contains(std::to_string(call.parents.front()))) << "no failure is a parent";
  }
}

TEST_F(PresetArchiveTest, TheSeedDecidesWhatIsDrawn) {
  std::set<std::vector<CandidateId>> drawn;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    begin("evoengineer", 100, seed);
    for (const Ask& call : asks(4)) {
      answer(call, fast(1.5 + 0.1 * static_cast<double>(last_)));
    }
    drawn.insert(ask().parents);
  }
  EXPECT_GT(drawn.size(), 3U);
}

} // namespace
} // namespace winnow::search
