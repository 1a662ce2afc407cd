#include "base/digest.h"
#include "base/error.h"
#include "store/board_facts.h"
#include "store/candidate_record.h"
#include "store/run_store.h"
#include "store/test_store.h"

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::query_file;
using testing::TestStore;
using testing::wrong_evaluation;

std::vector<std::string> summary(const std::vector<LeaderboardRow>& rows) {
  std::vector<std::string> lines;
  for (const LeaderboardRow& row : rows) {
    lines.push_back(
        fmt::format("{} #{} {} {:.1f}", row.task, row.rank, row.candidate_id, row.speedup));
  }
  return lines;
}

/// "1 2 =3 =3": the ranks in row order, with '=' for ties.
std::string ranks(const std::vector<LeaderboardRow>& rows) {
  std::string text;
  for (const LeaderboardRow& row : rows) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", row.tied ? "=" : "", row.rank);
  }
  return text;
}

tasks::Evaluation between(double low, double speedup, double high) {
  tasks::Evaluation evaluation = correct_evaluation(speedup);
  evaluation.speedup_bounds = {low, high};
  return evaluation;
}

LeaderboardQuery query_of(const std::string& task, const std::string& device,
                          const std::string& run, std::int64_t top = 10) {
  return {.task = task, .device = device, .run = run, .top = top};
}

TEST(Leaderboard, NamesTheAuthorOfEachKernel) {
  TestStore t;
  const auto add = [&](const char* run, const nlohmann::json& config, const std::string& text) {
    CandidateRow row;
    row.origin = "person";
    row.text = text;
    const RowId id = t.store.add_candidate(
        t.store.create_run(run, config, nlohmann::json::object()), t.task, row);
    tasks::Evaluation evaluation = correct_evaluation(2);
    evaluation.promoted = text != "left out";
    t.store.add_evaluations(id, {evaluation});
    EXPECT_EQ(t.store.candidate(id).author, t.store.candidate_state(id).row.author);
    return t.store.candidate(id).author;
  };
  const nlohmann::json seeds{{sha256_hex("a seed"), "mine.cu"}, {sha256_hex("left out"), "b.cu"}};
  EXPECT_EQ(add("a search", {{"resolved", {{"seeds", seeds}}}}, "a seed"), "mine.cu");
  EXPECT_EQ(add("another", {{"resolved", {{"seeds", seeds}}}}, "left out"), "b.cu");
  EXPECT_EQ(add("alice", {{"kind", "person"}}, "of alice"), "alice");
  t.add("", "the baseline", {correct_evaluation(1)});
  std::vector<std::string> authors;
  for (const LeaderboardRow& row : t.store.leaderboard({})) {
    authors.push_back(row.author);
  }
  EXPECT_THAT(authors, ElementsAre("mine.cu", "alice", "baseline"));
  std::vector<LeaderboardRow> rows = t.store.leaderboard({});
  const BoardFacts facts = board_facts(t.store, {}, rows);
  ASSERT_EQ(facts.left_out.size(), 1U);
  EXPECT_EQ(facts.left_out[0].author, "b.cu");
  EXPECT_THAT(left_out_json(facts.left_out[0])["note"].get<std::string>(),
              HasSubstr("candidate 2 by b.cu"));
}

TEST(Leaderboard, RanksBySpeedupAndTiesShareARank) {
  TestStore t;
  t.add("", "baseline", {correct_evaluation(1)});
  t.add("a", "slow", {correct_evaluation(0.5)});
  t.add("b", "fast", {correct_evaluation(3)});
  t.add("c", "as fast", {correct_evaluation(3)});
  t.add("d", "less", {correct_evaluation(2)});
  EXPECT_THAT(summary(t.store.leaderboard({})),
              ElementsAre("axpy #1 3 3.0", "axpy #1 4 3.0", "axpy #3 5 2.0", "axpy #4 1 1.0",
                          "axpy #5 2 0.5"));
}

TEST(Leaderboard, NamesTheRunAndTheShapesOfItsTimes) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2)});
  const auto rows = t.store.leaderboard({});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].run, "first");
  EXPECT_THAT(rows[0].shapes, ElementsAre("n=1000")) << "hidden shapes are not among them";
}

TEST(Leaderboard, AFilterThatTheStoreDoesNotHaveIsAnError) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2)});
  EXPECT_NO_THROW(t.store.require_known(query_of("axpy", "cpu", "first")));
  const auto error_of = [&](const LeaderboardQuery& query) -> std::string {
    try {
      t.store.require_known(query);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(query_of("nope", "", "")), HasSubstr("no task 'nope' in the store"));
  EXPECT_THAT(error_of(query_of("nope", "", "")), HasSubstr("it has: axpy"));
  EXPECT_THAT(error_of(query_of("", "gpu", "")),
              HasSubstr("no evaluation on the device 'gpu' in the store"));
  EXPECT_THAT(error_of(query_of("", "gpu", "")), HasSubstr("it has: cpu"));
  EXPECT_THAT(error_of(query_of("", "", "frist")), HasSubstr("known: first"));
}

TEST(Leaderboard, SaysWhyNobodyIsRanked) {
  TestStore t;
  EXPECT_EQ(t.store.why_nobody_is_ranked({}), "no correct kernel yet, of 0 candidates");
  t.add("a", "1", {wrong_evaluation()});
  EXPECT_EQ(t.store.why_nobody_is_ranked({}), "no correct kernel yet, of 1 candidate");
  tasks::Evaluation untimed = correct_evaluation(0);
  untimed.score_ns = 0;
  t.add("b", "2", {untimed});
  EXPECT_EQ(t.store.why_nobody_is_ranked({}),
            "no kernel has a rank: of 2 candidates 1 is correct, but none was timed");
  tasks::Evaluation refused = correct_evaluation(2);
  refused.promoted = false;
  t.add("c", "3", {refused});
  EXPECT_THAT(t.store.why_nobody_is_ranked({}), HasSubstr("promoted"));
}

TEST(Leaderboard, KernelsWithinTheNoiseShareARank) {
  TestStore t;
  t.add("a", "1", {between(1.9, 2.0, 2.1)});
  t.add("b", "2", {between(1.88, 1.95, 2.0)});
  t.add("c", "3", {between(1.7, 1.8, 1.89)}); // overlaps b but not a
  t.add("d", "4", {between(1.6, 1.65, 1.69)});
  t.add("e", "5", {between(1.5, 1.6, 1.6)}); // touches d
  const auto rows = t.store.leaderboard({});
  EXPECT_EQ(ranks(rows), "=1 =1 2 =4 =4");
  EXPECT_EQ(rows[0].speedup_bounds.low, 1.9);
  EXPECT_EQ(rows[0].speedup_bounds.high, 2.1);
  EXPECT_EQ(ranks(t.store.leaderboard(query_of("", "", "", 4))), "=1 =1 2 =4") << "tied with e";
  EXPECT_EQ(ranks(t.store.leaderboard(query_of("", "", "", 3))), "=1 =1 2");
  EXPECT_EQ(ranks(t.store.leaderboard(query_of("", "", "first"))), "=1 =1 2 =4 =4");
}

TEST(Leaderboard, AWideIntervalLiftsNobodyOverAFasterKernel) {
  TestStore t;
  t.add("a", "1", {between(1.35, 1.4, 1.45)});
  t.add("b", "2", {between(1.29, 1.3, 1.31)});
  t.add("c", "3", {between(0.5, 1.2, 2.0)});
  t.add("d", "4", {between(1.09, 1.1, 1.11)}); // slower than a and b, overlaps c
  EXPECT_EQ(ranks(t.store.leaderboard({})), "1 =2 =2 3");
}

TEST(Leaderboard, UnknownBoundsAreTheSpeedupItself) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2)});
  t.add("b", "2", {between(1.5, 1.9, 2.0)});
  t.add("c", "3", {correct_evaluation(1.8)});
  t.add("d", "4", {between(2.5, 1.7, 1.2)}); // bounds that exclude the speedup
  const auto rows = t.store.leaderboard({});
  EXPECT_EQ(ranks(rows), "=1 =1 2 3");
  EXPECT_FALSE(rows[0].speedup_bounds.known());
}

TEST(Leaderboard, RanksAreCountsOfWhoIsClearlyFaster) {
  constexpr int kStores = 12;
  constexpr int kCandidates = 15;
  std::mt19937 random(7);
  const auto upto = [&](unsigned limit) { return static_cast<double>(random() % limit); };
  for (int store = 0; store < kStores; ++store) {
    TestStore t;
    for (int i = 0; i < kCandidates; ++i) {
      const double speedup = 1 + upto(40) / 8; // some speedups are equal
      const double noise = store % 3 == 0 ? 4 : 16;
      const double low = speedup - upto(9) / noise;
      t.add(std::to_string(i), std::to_string(i),
            {upto(4) == 0 ? correct_evaluation(speedup)
                          : between(std::max(0.125, low), speedup, speedup + upto(9) / noise)});
    }
    const auto rows = t.store.leaderboard(query_of("", "", "", 0));
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(kCandidates));
    double reach = std::numeric_limits<double>::infinity();
    for (const LeaderboardRow& row : rows) {
      const auto& bounds = row.speedup_bounds;
      reach = std::min(reach, bounds.known() ? bounds.high : row.speedup);
      const auto faster = std::count_if(rows.begin(), rows.end(), [&](const LeaderboardRow& other) {
        const auto& theirs = other.speedup_bounds;
        return (theirs.known() ? theirs.low : other.speedup) > reach;
      });
      EXPECT_EQ(row.rank, 1 + faster) << "store " << store << ", candidate " << row.candidate_id;
      EXPECT_EQ(row.tied, std::count_if(rows.begin(), rows.end(), [&](const auto& other) {
                            return other.rank == row.rank;
                          }) > 1);
    }
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                               [](const auto& a, const auto& b) {
                                 return std::tuple(a.rank, -a.speedup, a.evaluation_id) <
                                        std::tuple(b.rank, -b.speedup, b.evaluation_id);
                               }))
        << "store " << store;
  }
}

TEST(Leaderboard, RanksWhatALaterJudgementSays) {
  TestStore t;
  const RowId fast = t.add("a", "fast", {correct_evaluation(3), correct_evaluation(2)});
  t.add("b", "slow", {correct_evaluation(2)});
  t.store.supersede_evaluation(fast, correct_evaluation(1.5));
  EXPECT_THAT(summary(t.store.leaderboard({})), ElementsAre("axpy #1 2 2.0", "axpy #2 1 1.5"));
  t.store.supersede_evaluation(fast, wrong_evaluation());
  EXPECT_THAT(summary(t.store.leaderboard({})), ElementsAre("axpy #1 2 2.0"));
  EXPECT_EQ(t.store.candidates(t.run).at(0).best->verdict, tasks::Verdict::Wrong);
  EXPECT_THAT(query_file(t.path,
                         "SELECT ordinal, verdict, speedup, superseded_by IS NOT NULL FROM "
                         "evaluation_overview WHERE candidate_id = 1 ORDER BY evaluation_id"),
              ElementsAre("2|correct|3.0|1", "1|correct|2.0|0", "3|correct|1.5|1", "0|wrong||0"));
}

TEST(Leaderboard, RanksAgainUnderANewerEvaluator) {
  TestStore t;
  const RowId candidate = t.add("a", "fast", {correct_evaluation(3)});
  tasks::Evaluation newer = correct_evaluation(2.5);
  ++newer.evaluator_version;
  t.store.supersede_evaluation(candidate, newer);
  const auto rows = t.store.leaderboard({});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].evaluator_version, newer.evaluator_version);
  EXPECT_EQ(rows[0].speedup, 2.5);
}

TEST(Leaderboard, ShowsWhatIsKnownOfARow) {
  TestStore t;
  t.store.begin_call(t.run, t.task, "a", "replay", "some-model", nlohmann::json::object());
  t.add("a", "two\nlines", {correct_evaluation(4)});
  const auto rows = t.store.leaderboard({});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].device, "cpu");
  EXPECT_EQ(rows[0].device_name, "Test CPU, 2 cores");
  EXPECT_EQ(rows[0].score_ns, 250);
  EXPECT_EQ(rows[0].run_id, t.run);
  EXPECT_EQ(rows[0].origin, "model");
  EXPECT_EQ(rows[0].model, "some-model");
  ASSERT_EQ(rows[0].findings.size(), 1U);
  EXPECT_EQ(rows[0].findings[0].detail, "counter (4 bytes)");
  EXPECT_EQ(rows[0].parameters, R"({"BLOCK":128,"VEC":4})");
  EXPECT_EQ(rows[0].isolation, "bubblewrap");
  EXPECT_EQ(rows[0].lines, 2);
  EXPECT_EQ(rows[0].evaluated_at, "2026-11-20T09:44:26.123Z");
  EXPECT_EQ(rows[0].evaluator_version, 7);
  EXPECT_EQ(rows[0].task_digest, "digest of axpy");
}

TEST(Leaderboard, OnlyCorrectTimedFirstEvaluationsAreEligible) {
  TestStore t;
  t.add("wrong", "1", {wrong_evaluation()});
  t.add("wrong first", "2", {wrong_evaluation(), correct_evaluation(9)});
  t.add("not timed", "3", {correct_evaluation(1)});
  t.add("pending", "4", {});
  tasks::Evaluation untimed = correct_evaluation(1);
  untimed.speedup = 0;
  t.add("untimed", "5", {untimed});
  tasks::Evaluation implausible = correct_evaluation(1000);
  implausible.verdict = tasks::Verdict::Implausible;
  t.add("implausible", "6", {implausible});
  t.add("variants", "7", {correct_evaluation(2), correct_evaluation(5)});
  EXPECT_THAT(summary(t.store.leaderboard({})), ElementsAre("axpy #1 7 2.0", "axpy #2 3 1.0"));
}

TEST(Leaderboard, AKernelIsListedOnceWithItsFirstMeasurement) {
  TestStore t;
  t.add("a", "same", {correct_evaluation(2)});
  t.add("b", "same", {correct_evaluation(3)});
  t.add("c", "other", {correct_evaluation(2.5)});
  EXPECT_THAT(summary(t.store.leaderboard({})), ElementsAre("axpy #1 3 2.5", "axpy #2 1 2.0"));
}

TEST(Leaderboard, ARunHasItsOwnRanks) {
  TestStore t;
  t.add("a", "same", {correct_evaluation(2)});
  t.add("b", "best", {correct_evaluation(9)});
  t.run = t.store.create_run("second", nullptr, nullptr);
  t.add("a", "same", {correct_evaluation(3)});
  t.add("b", "new", {correct_evaluation(1)});
  EXPECT_THAT(summary(t.store.leaderboard({})),
              ElementsAre("axpy #1 2 9.0", "axpy #2 1 2.0", "axpy #3 4 1.0"));
  EXPECT_THAT(summary(t.store.leaderboard(query_of("", "", "second"))),
              ElementsAre("axpy #1 3 3.0", "axpy #2 4 1.0"));
  EXPECT_THAT(summary(t.store.leaderboard(query_of("", "", "first"))),
              ElementsAre("axpy #1 2 9.0", "axpy #2 1 2.0"));
  try {
    t.store.leaderboard(query_of("", "", "secnd"));
    FAIL() << "no exception";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no run 'secnd'"));
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'second'"));
  }
}

TEST(Leaderboard, RevisionsDevicesAndEvaluatorsAreRankedApart) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2)});
  tasks::Evaluation elsewhere = correct_evaluation(3);
  elsewhere.device_name = "Another CPU";
  t.add("b", "2", {elsewhere});
  tasks::Evaluation newer = correct_evaluation(4);
  newer.evaluator_version = 8;
  t.add("c", "3", {newer});
  tasks::Task revised = testing::sample_task();
  revised.digest = "revised";
  t.task = t.store.add_task(revised);
  t.add("d", "4", {correct_evaluation(5)});
  for (const LeaderboardRow& row : t.store.leaderboard({})) {
    EXPECT_EQ(row.rank, 1);
  }
  EXPECT_EQ(t.store.leaderboard({}).size(), 4U);
}

TEST(Leaderboard, FiltersByTaskAndDevice) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2)});
  tasks::Evaluation on_gpu = correct_evaluation(3);
  on_gpu.device = "cuda";
  t.add("b", "2", {on_gpu});
  t.task = t.store.add_task(testing::sample_task("gemm"));
  t.add("c", "3", {correct_evaluation(4)});
  EXPECT_THAT(summary(t.store.leaderboard({})),
              ElementsAre("axpy #1 1 2.0", "axpy #1 2 3.0", "gemm #1 3 4.0"));
  EXPECT_THAT(summary(t.store.leaderboard(query_of("gemm", "", ""))), ElementsAre("gemm #1 3 4.0"));
  EXPECT_THAT(summary(t.store.leaderboard(query_of("", "cuda", ""))), ElementsAre("axpy #1 2 3.0"));
  EXPECT_THAT(summary(t.store.leaderboard(query_of("none", "", ""))), IsEmpty());
}

TEST(Leaderboard, TheTopIsTheBeginningOfTheWholeView) {
  TestStore t;
  constexpr int kCandidates = 60;
  for (int i = 0; i < kCandidates; ++i) {
    const int shuffled = 1 + i * 17 % 31; // some are equal
    t.add(std::to_string(i), std::to_string(i),
          {i % 4 == 0 ? between(shuffled - 0.5, shuffled, shuffled + i % 7)
                      : correct_evaluation(shuffled)});
  }
  const auto sorted = query_file(t.path, "SELECT candidate_id FROM leaderboard "
                                         "ORDER BY rank, speedup DESC, evaluation_id");
  ASSERT_EQ(sorted.size(), static_cast<std::size_t>(kCandidates));
  for (const std::int64_t top : {0, 1, 2, 10, 59, 1000}) {
    const auto rows = t.store.leaderboard(query_of("", "", "", top));
    const auto expected = top == 0 ? kCandidates : std::min<std::int64_t>(top, kCandidates);
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(expected));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(std::to_string(rows[i].candidate_id), sorted[i])
          << "row " << i << " of top " << top;
    }
  }
}

TEST(Leaderboard, ASupersededEvaluationLeavesAndTheNextOneTakesItsPlace) {
  TestStore t;
  t.add("a", "same", {correct_evaluation(5)});
  t.add("b", "same", {correct_evaluation(2)});
  t.add("c", "other", {correct_evaluation(3)});
  SQLite::Database other(t.path.string(), SQLite::OPEN_READWRITE);
  other.exec("UPDATE evaluations SET superseded_by = 2 WHERE id = 1");
  const LeaderboardQuery in_run = query_of("", "", "first");
  for (const LeaderboardQuery& query : {LeaderboardQuery{}, in_run}) {
    EXPECT_THAT(summary(t.store.leaderboard(query)), ElementsAre("axpy #1 3 3.0", "axpy #2 2 2.0"));
  }
  other.exec("UPDATE evaluations SET superseded_by = 3 WHERE id = 2");
  EXPECT_THAT(summary(t.store.leaderboard({})), ElementsAre("axpy #1 3 3.0"));
}

TEST(Leaderboard, TheStandingsAreWhatTheEligibilityViewSays) {
  TestStore t;
  for (int i = 0; i < 20; ++i) {
    t.add(std::to_string(i), std::to_string(i % 13),
          {i % 3 == 0   ? wrong_evaluation()
           : i % 3 == 1 ? between(1, 1 + i, 2 + i)
                        : correct_evaluation(1 + i)});
  }
  EXPECT_EQ(query_file(t.path, "SELECT kernel_file_id, min(evaluation_id), speedup, speedup_low, "
                               "speedup_high FROM eligible_evaluations GROUP BY 1 ORDER BY 1"),
            query_file(t.path, "SELECT s.kernel_file_id, s.evaluation_id, s.speedup, "
                               "s.speedup_low, s.speedup_high "
                               "FROM standings AS s JOIN leaderboard_groups AS g "
                               "ON g.id = s.group_id WHERE g.run_id IS NULL ORDER BY 1"));
}

tasks::Evaluation of_given_seed(double speedup) {
  tasks::Evaluation evaluation = correct_evaluation(speedup);
  evaluation.unranked = "its seed was given";
  return evaluation;
}

tasks::Evaluation of_evaluator(int version, double speedup) {
  tasks::Evaluation evaluation = correct_evaluation(speedup);
  evaluation.evaluator_version = version;
  return evaluation;
}

/// "1 3.0" or "- 9.0 (its seed was given)".
std::vector<std::string> marks(const std::vector<LeaderboardRow>& rows) {
  std::vector<std::string> lines;
  for (const LeaderboardRow& row : rows) {
    lines.push_back(row.rank > 0 ? fmt::format("{} {:.1f}", row.rank, row.speedup)
                                 : fmt::format("- {:.1f} ({})", row.speedup, row.unranked));
  }
  return lines;
}

TEST(Leaderboard, WhatIsNotRankedComesBelowWithItsReason) {
  TestStore t;
  t.add("a", "1", {of_given_seed(9)});
  t.add("b", "2", {of_evaluator(6, 8)});
  t.add("c", "3", {correct_evaluation(2)});
  t.add("d", "4", {of_evaluator(5, 7)});
  t.add("e", "5", {of_given_seed(9)});
  t.add("f", "6", {correct_evaluation(3)});
  for (const LeaderboardQuery& query : {LeaderboardQuery{}, query_of("", "", "first")}) {
    const auto rows = t.store.leaderboard(query);
    EXPECT_THAT(marks(rows),
                ElementsAre("1 3.0", "2 2.0", "- 7.0 (evaluator 5)", "- 8.0 (evaluator 6)",
                            "- 9.0 (its seed was given)", "- 9.0 (its seed was given)"));
    EXPECT_FALSE(rows.back().tied);
  }
  EXPECT_THAT(query_file(t.path, "SELECT count(*), count(rank) FROM leaderboard"),
              ElementsAre("6|2"));
}

TEST(Leaderboard, AKernelThatIsRankedIsNotShownWithoutARank) {
  TestStore t;
  t.add("a", "same", {of_given_seed(9)});
  t.add("b", "same", {correct_evaluation(2)});
  t.add("c", "other", {of_given_seed(4)});
  EXPECT_THAT(marks(t.store.leaderboard({})), ElementsAre("1 2.0", "- 4.0 (its seed was given)"));
}

TEST(Leaderboard, ALaterEvaluationGivesARank) {
  TestStore t;
  const RowId first = t.add("a", "1", {of_evaluator(6, 5)});
  const RowId second = t.add("b", "2", {of_given_seed(5)});
  t.store.supersede_evaluation(first, correct_evaluation(2));
  t.store.supersede_evaluation(second, correct_evaluation(3));
  EXPECT_THAT(marks(t.store.leaderboard({})), ElementsAre("1 3.0", "2 2.0"));
  t.store.supersede_evaluation(second, of_given_seed(9));
  EXPECT_THAT(marks(t.store.leaderboard({})), ElementsAre("1 2.0", "- 9.0 (its seed was given)"));
}

TEST(VerdictCounts, CountCandidatesNotVariants) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2), correct_evaluation(3)});
  t.add("b", "2", {wrong_evaluation()});
  t.add("c", "3", {wrong_evaluation()});
  t.add("d", "4", {});
  std::vector<std::string> lines;
  for (const VerdictCount& count : t.store.verdict_counts({})) {
    lines.push_back(fmt::format("{} {} {} {} {}", count.run, count.task, count.device,
                                count.verdict, count.candidates));
  }
  EXPECT_THAT(lines, ElementsAre("first axpy  not_judged 1", "first axpy cpu wrong 2",
                                 "first axpy cpu correct 1"));
  EXPECT_EQ(t.store.verdict_counts(query_of("axpy", "cpu", "first")).size(), 2U);
  EXPECT_THAT(t.store.verdict_counts(query_of("gemm", "", "")), IsEmpty());
}

} // namespace
} // namespace winnow::store
