// What a board answers: in C++, as JSON and as text.
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/report/board_report.h"
#include "store/board/board.h"
#include "store/board_facts.h"
#include "store/test_store.h"
#include "tasks/known_limit.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using harness::export_run;
using harness::Format;
using harness::format_leaderboard;
using nlohmann::json;
using ::testing::AllOf;
using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::TestStore;
using testing::wrong_evaluation;

struct FactsStore : TestStore {
  RowId ask(const std::string& key, const std::string& text, const tasks::Evaluation& evaluation,
            std::optional<double> dollars) {
    const RowId call = store.begin_call(run, task, key, "openai", "m", json::object());
    ModelCallRow reply;
    reply.status = "ok";
    reply.text = "a reply";
    reply.usage.prompt_tokens = 10;
    reply.dollars = dollars;
    store.finish_call(call, reply);
    return add(key, text, {evaluation});
  }
  void hold_final(const tasks::Bounds& of_leader = {}, const tasks::Bounds& of_race = {}) {
    tasks::SittingResult sitting;
    sitting.device = "cpu";
    sitting.device_name = "Test CPU, 2 cores";
    sitting.evaluator_version = 7;
    sitting.started_at = "2026-11-21T10:00:00.000Z";
    int rank = 0;
    for (const LeaderboardRow& row : store.leaderboard({})) {
      tasks::SittingRow& place = sitting.rows.emplace_back();
      place.kernel = row.kernel;
      place.rank = ++rank;
      place.speedup = row.speedup;
      place.score_ns = row.score_ns;
    }
    sitting.rows.front().speedup_bounds = of_leader;
    if (of_race.known()) {
      sitting.rows.front().races = {{sitting.rows.back().kernel, "faster", 3.515, of_race, 6}};
    }
    store.add_sitting(run, task, sitting);
  }
  BoardFacts facts(const LeaderboardQuery& query = {}) const {
    std::vector<LeaderboardRow> rows = store.leaderboard(query);
    return board_facts(store, query, rows);
  }
  std::string text(Format format, const LeaderboardQuery& query = {}) const {
    std::vector<LeaderboardRow> rows = store.leaderboard(query);
    const BoardFacts facts = board_facts(store, query, rows);
    return format_leaderboard(rows, format, facts, 0);
  }
};

tasks::Evaluation unpromoted(double speedup) {
  tasks::Evaluation evaluation = correct_evaluation(speedup);
  evaluation.promoted = false;
  return evaluation;
}

std::string answer(const BoardSummary& summary, const std::string& question) {
  const json document = summary_json(summary);
  for (const json& said : document.at("answers")) {
    if (said.at("question") == question) {
      return said.at("answer");
    }
  }
  return "none";
}

TEST(BoardFacts, ABoardWithoutAFinalSaysSoAndOffersTheCommand) {
  FactsStore t;
  t.add("a", "1", {correct_evaluation(2)});
  const std::string command = "winnow reverify --task axpy --device cpu --store " + t.path.string();
  const BoardFacts facts = t.facts();
  ASSERT_THAT(facts.summaries, SizeIs(1));
  EXPECT_EQ(facts.summaries[0].final_at, "");
  EXPECT_EQ(facts.summaries[0].final_command, command);
  for (const Format format : {Format::Table, Format::Markdown, Format::Json}) {
    EXPECT_THAT(t.text(format), AllOf(HasSubstr("no final yet"), HasSubstr("winnow reverify")));
  }
  EXPECT_THAT(t.text(Format::Table), HasSubstr(command));
  EXPECT_THAT(t.text(Format::Table, {.task = "", .device = "", .run = "first"}),
              HasSubstr("--device cpu --run first --store"));
}

TEST(BoardFacts, ABoardOfAnOldEvaluatorSaysSo) {
  for (const int evaluator : {7, evaluators::kEvaluatorVersion}) {
    FactsStore t;
    tasks::Evaluation evaluation = correct_evaluation(2);
    evaluation.evaluator_version = evaluator;
    t.add("a", "1", {evaluation});
    const auto mark = HasSubstr("old: evaluator 7 judged these kernels");
    for (const Format format : {Format::Table, Format::Markdown}) {
      EXPECT_EQ(::testing::Value(t.text(format), mark), evaluator == 7);
    }
  }
}

TEST(BoardFacts, CommandsNameTheStoreSoThatTheyWorkWhereTheUserIs) {
  FactsStore t;
  t.add("a", "1", {correct_evaluation(2)});
  const std::string folder = t.directory.path().string();
  BoardOptions options;
  options.names_folder = true;
  const auto ends = [&](const std::string& store) {
    for (const std::string& text :
         {export_run(t.store, {}, Format::Json), export_run(t.store, {}, Format::Markdown),
          board_page(t.store, options), t.text(Format::Table)}) {
      EXPECT_THAT(text, HasSubstr("winnow reverify --task axpy --device cpu --store " + store));
      EXPECT_THAT(text, HasSubstr("winnow export kernel 1 axpy-1 --store " + store));
    }
  };
  ends(folder + "/store.db");
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  setenv("HOME", folder.c_str(), 1);
  ends("~/store.db");
  setenv("HOME", before.c_str(), 1);
}

TEST(BoardFacts, APageForOtherMachinesNamesNoFolder) {
  FactsStore t;
  t.add("a", "1", {correct_evaluation(2)});
  const std::string page = board_page(t.store, {});
  EXPECT_THAT(page, HasSubstr("winnow reverify --task axpy --device cpu --store store.db"));
  EXPECT_THAT(page, Not(HasSubstr(t.directory.path().string())));
}

TEST(BoardFacts, ABoardWithAFinalSaysWhen) {
  FactsStore t;
  t.add("a", "1", {correct_evaluation(2)});
  t.add("b", "2", {correct_evaluation(1.5)});
  t.hold_final();
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_EQ(board.final_at, "2026-11-21T10:00:00.000Z");
  EXPECT_THAT(answer(board, "sure"), HasSubstr("a final at 2026-11-21 10:00"));
  EXPECT_THAT(t.text(Format::Table), Not(HasSubstr("no final yet")));
}

TEST(BoardFacts, ARaceDecidesWhereTheIntervalOfAnotherFinalIsWide) {
  FactsStore t;
  t.add("", "// baseline", {correct_evaluation(1)});
  t.add("a", "1", {correct_evaluation(3.88)});
  t.hold_final({0.09, 166}, {3.415, 3.617});
  const std::string sure = answer(t.facts().summaries[0], "sure");
  EXPECT_THAT(sure, HasSubstr("ranks rest on the races of this final, and in its race the kernel "
                              "is 3.515x as fast as baseline.cu (99 %: 3.415-3.617)"));
  EXPECT_THAT(sure, Not(HasSubstr("not shown to be faster")));
  EXPECT_THAT(t.text(Format::Table),
              AllOf(HasSubstr(" ~4x  0.09-166"), HasSubstr("~4x as fast as baseline.cu"),
                    HasSubstr("~: not sure, because the interval spans more than a factor of 100"),
                    HasSubstr("ranks rest on the races of this final")));
  t.hold_final({0.5, 3}, {0.9, 1.4});
  EXPECT_THAT(answer(t.facts().summaries[0], "sure"), HasSubstr("not shown to be faster than"));
}

TEST(BoardFacts, KernelsThatShareTheFirstRankAreNamed) {
  FactsStore t;
  tasks::Evaluation wide = correct_evaluation(2);
  wide.speedup_bounds = {0.9, 3};
  const RowId first = t.add("a", "1", {wide});
  const RowId second = t.add("b", "2", {correct_evaluation(1.9)});
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_EQ(board.leader.candidate_id, first);
  EXPECT_THAT(board.tied, ElementsAre(second));
}

TEST(BoardFacts, CorrectKernelsThatAreNotPromotedAreListedBelowTheRanks) {
  FactsStore t;
  t.add("a", "1", {correct_evaluation(2)});
  const RowId slow = t.add("b", "2", {unpromoted(3)});
  t.add("c", "3", {wrong_evaluation()});
  t.add("d", "1", {unpromoted(3)}); // its file is on the board
  tasks::Evaluation untimed = correct_evaluation(0);
  untimed.score_ns = 0;
  const RowId unmeasured = t.add("e", "5", {untimed});
  const BoardFacts facts = t.facts();
  ASSERT_THAT(facts.left_out, SizeIs(2));
  EXPECT_EQ(facts.left_out[0].candidate_id, slow);
  EXPECT_EQ(facts.left_out[0].speedup, 3);
  EXPECT_THAT(facts.left_out[0].reason, HasSubstr("slower"));
  EXPECT_EQ(facts.left_out[1].candidate_id, unmeasured);
  EXPECT_EQ(facts.left_out[1].reason, "not timed");
  const std::string text = t.text(Format::Table);
  EXPECT_THAT(text, HasSubstr("not ranked: candidate 2 by model, 3.00x as fast as baseline.cu (no "
                              "interval): not promoted:"));
  EXPECT_LT(text.find("rank"), text.find("not ranked"));
  EXPECT_THAT(export_run(t.store, {}, Format::Markdown), HasSubstr("not ranked: candidate 2"));
  EXPECT_THAT(t.text(Format::Table, {.task = "", .device = "", .run = "", .top = 1}),
              HasSubstr("not ranked: 1 more"));
}

TEST(BoardFacts, ATaskWithoutAnyRankStillListsItsCorrectKernels) {
  FactsStore t;
  t.add("a", "1", {unpromoted(3)});
  EXPECT_THAT(t.text(Format::Table),
              AllOf(HasSubstr("axpy on cpu (Test CPU, 2 cores): no kernel has a rank"),
                    HasSubstr("not ranked: candidate 1")));
  EXPECT_THAT(t.facts({.task = "other", .device = "", .run = "", .top = 10}).left_out, IsEmpty());
}

TEST(BoardFacts, CostsAreThoseUpToTheLeader) {
  FactsStore t;
  t.ask("axpy/0/0", "1", wrong_evaluation(), 0.25);
  t.store.begin_call(t.run, t.task, "axpy/0/9", "chat", "m", {{"messages", json::array()}});
  t.ask("axpy/0/1", "2", correct_evaluation(2), 0.5);
  t.ask("axpy/0/2", "3", correct_evaluation(1), 4);
  const BoardSummary board = t.facts().summaries.at(0);
  ASSERT_TRUE(board.cost);
  EXPECT_EQ(board.cost->calls, 2) << "the answered ones";
  EXPECT_EQ(board.cost->dollars, 0.75);
  EXPECT_EQ(board.cost->device_seconds, 1) << "half a second for each evaluation";
  EXPECT_THAT(answer(board, "cost"), HasSubstr("2 calls, $0.7500, 1.0 s of the device, in run"));
}

TEST(BoardFacts, AnUnknownPriceIsNotZero) {
  FactsStore t;
  t.ask("axpy/0/0", "1", correct_evaluation(2), std::nullopt);
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_THAT(answer(board, "cost"), HasSubstr("1 call, price unknown"));
  EXPECT_TRUE(summary_json(board).at("cost").at("dollars").is_null());
}

TEST(BoardFacts, TheBestAlternativeIsNamed) {
  FactsStore t;
  const auto timing = [](const char* name, double ns) {
    BaselineTiming timed;
    timed.name = name;
    timed.version = "2.9";
    timed.device = "cpu";
    timed.device_name = "Test CPU, 2 cores";
    timed.shape_id = "search/0";
    timed.median_ns = ns;
    return timed;
  };
  t.add("a", "1", {correct_evaluation(2)});
  EXPECT_THAT(
      answer(t.facts().summaries.at(0), "against"),
      AllOf(HasSubstr("2.00x as fast as baseline.cu"), HasSubstr("no library or framework")));
  t.store.add_baseline_timings(t.task,
                               {timing("torch eager", 403), timing("torch.compile", 100.75)});
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_EQ(board.leader.best_alternative, "torch.compile 2.9");
  EXPECT_DOUBLE_EQ(board.leader.versus_best, 1);
  EXPECT_THAT(answer(board, "against"),
              ::testing::StartsWith("1.00x as fast as torch.compile 2.9"));
  t.store.add_baseline_timings(t.task, {timing("cuDNN", 40)});
  EXPECT_THAT(answer(t.facts().summaries.at(0), "against"),
              ::testing::StartsWith("slower: 0.40x as fast as cuDNN 2.9"));
}

TEST(BoardFacts, TheLimitIsTheLeastShareAtASearchShape) {
  FactsStore t;
  EXPECT_THAT(t.facts().summaries, IsEmpty());
  tasks::Evaluation profiled = correct_evaluation(2);
  profiled.device = "cuda";
  profiled.profile =
      R"([{"shape_id":"search/0","speed_of_light":{"fraction":0.8,"bound":"DRAM's peak"}},
          {"shape_id":"search/1","speed_of_light":{"fraction":0.5,"bound":"L2's peak"}},
          {"shape_id":"promotion/0","speed_of_light":{"fraction":0.1,"bound":"none"}}])";
  t.add("a", "1", {profiled});
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_EQ(board.leader.of_light, 0.5);
  EXPECT_THAT(answer(board, "limit"), AllOf(HasSubstr("50 %"), HasSubstr("L2's peak")));
  EXPECT_EQ(board.sol_score, 0) << "no alternative is timed here";
}

TEST(BoardFacts, TheSolScoreIsAHalfAtTheAlternative) {
  FactsStore t;
  tasks::Evaluation profiled = correct_evaluation(2);
  profiled.device = "cuda";
  profiled.profile =
      R"([{"shape_id":"search/0","speed_of_light":{"fraction":0.8,"bound":"DRAM's peak"}}])";
  t.add("a", "1", {profiled});
  const double kernel_ns = profiled.cases.front().median_ns;
  BaselineTiming timing;
  timing.name = "cuDNN";
  timing.device = "cuda";
  timing.device_name = profiled.device_name;
  timing.shape_id = "search/0";
  for (const auto& [times_as_long, score] :
       {std::pair{1.0, 0.5}, std::pair{1.2, 2.0 / 3}, std::pair{0.9, 1.0 / 3}}) {
    timing.median_ns = times_as_long * kernel_ns;
    t.store.add_baseline_timings(t.task, {timing});
    EXPECT_NEAR(t.facts().summaries.at(0).sol_score, score, 1e-9) << times_as_long;
  }
  EXPECT_THAT(answer(t.facts().summaries.at(0), "limit"),
              HasSubstr("; SOL score 0.33 (0.50: as fast as cuDNN)"));
}

TEST(BoardFacts, ALimitOfTheCpuIsNotKnownWhateverAnEarlierVersionStored) {
  FactsStore t;
  tasks::Evaluation profiled = correct_evaluation(2);
  profiled.profile =
      R"([{"shape_id":"search/0","speed_of_light":{"fraction":0.8,"bound":"DRAM's peak"}}])";
  t.add("a", "1", {profiled});
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_EQ(board.leader.of_light, 0);
  EXPECT_EQ(board.sol_score, 0);
  EXPECT_EQ(board.bound, tasks::why_no_limit("cpu"));
}

TEST(BoardFacts, ABaselineIsNothingToShip) {
  FactsStore t;
  t.add("", "1", {correct_evaluation(1)});
  const BoardSummary board = t.facts().summaries.at(0);
  EXPECT_THAT(answer(board, "ship"), HasSubstr("no kernel"));
  EXPECT_EQ(answer(board, "take it"), "none");
  EXPECT_EQ(answer(board, "against"),
            "the leader is baseline.cu itself; no library or framework is timed here");
  EXPECT_FALSE(board.cost);
}

TEST(BoardFacts, ALeaderIsSlowerOnlyWhereItsIntervalSaysSo) {
  FactsStore t;
  tasks::Evaluation slow = correct_evaluation(0.9);
  slow.speedup_bounds = {0.8, 1.1};
  t.add("a", "1", {slow});
  BoardSummary board = t.facts().summaries.at(0);
  EXPECT_THAT(answer(board, "ship"), HasSubstr("; but it is not shown to be faster than"));
  board.leader.speedup_bounds = {};
  EXPECT_THAT(answer(board, "ship"), HasSubstr("; but it is not shown to be faster than"));
  board.leader.speedup_bounds = {0.8, 0.95};
  EXPECT_THAT(answer(board, "ship"), HasSubstr("; but it is slower than baseline.cu"));
  board.is_tied_with_baseline = true;
  EXPECT_THAT(answer(board, "ship"), HasSubstr("; but it is not shown to be faster than"));
  board.is_tied_with_baseline = false;
  board.leader.speedup = 1.05;
  board.leader.speedup_bounds = {0.9, 1.2};
  EXPECT_THAT(answer(board, "ship"), HasSubstr("; but it is not shown to be faster than"));
  board.race_bounds = {1.02, 1.1};
  EXPECT_THAT(answer(board, "ship"), Not(HasSubstr("; but")));
}

} // namespace
} // namespace winnow::store
