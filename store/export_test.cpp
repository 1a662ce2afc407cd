#include "store/export.h"
#include "store/leaderboard_format.h"
#include "store/test_store.h"
#include "store/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;
using testing::correct_evaluation;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TestStore;
using testing::wrong_evaluation;

LeaderboardRow sample_row() {
  LeaderboardRow row;
  row.task = "axpy";
  row.device = "cpu";
  row.device_name = "Test CPU";
  row.rank = 1;
  row.candidate = 12;
  row.evaluation = 34;
  row.run = 1;
  row.origin = "model";
  row.model = "modèle";
  row.parameters = R"({"BLOCK":128,"VEC":4})";
  row.speedup = 2.3456;
  row.score_ns = 412345;
  row.isolation = "bubblewrap";
  row.digest = "0123456789abcdef";
  row.evaluated_at = "2026-11-20T09:44:26.123Z";
  row.task_digest = "feedbeef01";
  row.lines = 40;
  row.evaluator_version = 1;
  return row;
}

TEST(TextTable, AlignsByCodePointsAndKeepsTheTerminalClean) {
  const TextTable table{{{"name", false}, {"n", true}},
                        {{"é", "10"}, {"plain", "7"}, {"a\nb\x1b[31m", ""}}};
  EXPECT_EQ(to_aligned_text(table, 2), "  name       n\n"
                                       "  é         10\n"
                                       "  plain      7\n"
                                       "  a b\uFFFD[31m\n");
}

TEST(TextTable, CsvQuotesWhatNeedsIt) {
  const TextTable table{{{"a", false}, {"b", false}}, {{"x,y", "say \"hi\""}, {"two\nlines", ""}}};
  EXPECT_EQ(to_csv(table), "a,b\r\n\"x,y\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",\r\n");
}

TEST(TextTable, MarkdownCellsCannotBreakTheTable) {
  const TextTable table{{{"a", false}, {"b", true}}, {{"x|y\nz", "<script>"}}};
  EXPECT_EQ(to_markdown(table), "| a | b |\n|---|---:|\n| x\\|y z | &lt;script&gt; |\n");
}

TEST(FormatLeaderboard, TableGroupsByTaskAndDevice) {
  LeaderboardRow second = sample_row();
  second.rank = 2;
  second.origin = "baseline";
  second.model = "";
  second.parameters = "{}";
  second.speedup = 1;
  second.score_ns = 1.5e9;
  LeaderboardRow other = second;
  other.task = "gemm";
  other.score_ns = 15;
  EXPECT_EQ(
      format_leaderboard({sample_row(), second, other}, Format::Table),
      "axpy on cpu (Test CPU)\n"
      "  rank  speedup vs baseline.cu      time  candidate  file      by        parameters       "
      "isolation   evaluated\n"
      "     1                   2.35x  412.3 us         12  01234567  modèle    BLOCK=128 VEC=4  "
      "bubblewrap  2026-11-20 09:44\n"
      "     2                   1.00x     1.5 s         12  01234567  baseline                   "
      "bubblewrap  2026-11-20 09:44\n"
      "\n"
      "gemm on cpu (Test CPU)\n"
      "  rank  speedup vs baseline.cu   time  candidate  file      by        parameters  "
      "isolation   evaluated\n"
      "     2                   1.00x  15 ns         12  01234567  baseline              "
      "bubblewrap  2026-11-20 09:44\n");
}

TEST(FormatLeaderboard, SaysWhatWasFoundInTheMachineCode) {
  LeaderboardRow row = sample_row();
  EXPECT_THAT(format_leaderboard({row}, Format::Table), Not(HasSubstr("machine code")));
  row.findings = {{tasks::FindingKind::ClockRead, "k: 1 instruction"},
                  {tasks::FindingKind::MutableGlobal, "counter (4 bytes)"}};
  const std::string text = format_leaderboard({sample_row(), row}, Format::Table);
  EXPECT_THAT(text, HasSubstr("  machine code\n"));
  EXPECT_THAT(text, HasSubstr("  keeps state, reads the clock\n"));
  EXPECT_THAT(format_leaderboard({row}, Format::Csv), HasSubstr("keeps state, reads the clock"));
  EXPECT_THAT(format_leaderboard({row}, Format::Json), HasSubstr("counter (4 bytes)"));
}

TEST(FormatLeaderboard, RevisionsAreNamedWhereThereAreSeveral) {
  LeaderboardRow revised = sample_row();
  revised.task_digest = "0ddba11500";
  const std::string text = format_leaderboard({sample_row(), revised}, Format::Table);
  EXPECT_THAT(text, HasSubstr("axpy on cpu (Test CPU), task revision feedbeef, evaluator 1\n"));
  EXPECT_THAT(text, HasSubstr("axpy on cpu (Test CPU), task revision 0ddba115, evaluator 1\n"));
}

TEST(FormatLeaderboard, NothingToShowIsSaid) {
  EXPECT_EQ(format_leaderboard({}, Format::Table), "No candidate is correct and timed yet.\n");
  EXPECT_EQ(json::parse(format_leaderboard({}, Format::Json))["rows"], json::array());
  EXPECT_THAT(format_leaderboard({}, Format::Csv), StartsWith("task,device,"));
}

TEST(FormatLeaderboard, JsonIsVersioned) {
  const json document = json::parse(format_leaderboard({sample_row()}, Format::Json));
  EXPECT_EQ(document["schema"], "winnow.leaderboard");
  EXPECT_EQ(document["version"], 1);
  const json& row = document["rows"][0];
  EXPECT_EQ(row["rank"], 1);
  EXPECT_EQ(row["speedup"], 2.3456);
  EXPECT_EQ(row["parameters"]["VEC"], 4);
  EXPECT_EQ(row["model"], "modèle");
  EXPECT_EQ(row["task_digest"], "feedbeef01");
}

TEST(FormatLeaderboard, CsvAndMarkdownHoldTheRows) {
  const std::string csv = format_leaderboard({sample_row()}, Format::Csv);
  EXPECT_THAT(csv, HasSubstr("\r\naxpy,cpu,Test CPU,1,2.3456,412345,12,1,model,modèle,"
                             "\"{\"\"BLOCK\"\":128,\"\"VEC\"\":4}\",bubblewrap,"));
  const std::string markdown = format_leaderboard({sample_row()}, Format::Markdown);
  EXPECT_THAT(markdown,
              StartsWith("## axpy on cpu (Test CPU)\n\n| rank | speedup vs baseline.cu |"));
  EXPECT_THAT(markdown, HasSubstr("| 1 | 2.35x | 412.3 us | 12 |"));
}

TEST(FormatLeaderboard, TheIntervalStandsBesideTheSpeedupWhereOneIsKnown) {
  LeaderboardRow bounded = sample_row();
  bounded.speedup = 1.27;
  bounded.speedup_bounds = {1.2512, 1.2876};
  const std::string text = format_leaderboard({bounded, sample_row()}, Format::Table);
  EXPECT_THAT(text, HasSubstr("  rank  speedup vs baseline.cu       95 %      time"));
  EXPECT_THAT(text, HasSubstr("     1                   1.27x  1.25-1.29  412.3 us"));
  EXPECT_THAT(text, HasSubstr("     1                   2.35x          -  412.3 us"));
  EXPECT_THAT(format_leaderboard({bounded}, Format::Markdown),
              HasSubstr("| 1 | 1.27x | 1.25-1.29 | 412.3 us |"));
  EXPECT_THAT(format_leaderboard({bounded}, Format::Csv), HasSubstr(",false,1.2512,1.2876,\r\n"));
  EXPECT_THAT(format_leaderboard({sample_row()}, Format::Csv), HasSubstr(",false,,,\r\n"));
  const json rows = json::parse(format_leaderboard({bounded, sample_row()}, Format::Json))["rows"];
  EXPECT_EQ(rows[0]["speedup_bounds"], json({1.2512, 1.2876}));
  EXPECT_EQ(rows[1]["speedup_bounds"], nullptr);
}

TEST(FormatLeaderboard, ASharedRankIsMarked) {
  LeaderboardRow tied = sample_row();
  tied.rank = 2;
  tied.is_tied = true;
  EXPECT_THAT(format_leaderboard({sample_row(), tied}, Format::Table),
              HasSubstr("\n    =2                   2.35x"));
  EXPECT_THAT(format_leaderboard({tied}, Format::Markdown), HasSubstr("| =2 | 2.35x |"));
  EXPECT_THAT(format_leaderboard({tied}, Format::Csv), HasSubstr("Test CPU,2,2.3456,"));
  EXPECT_THAT(format_leaderboard({tied}, Format::Csv), HasSubstr(",true,,,\r\n"));
  const json row = json::parse(format_leaderboard({tied}, Format::Json))["rows"][0];
  EXPECT_EQ(row["rank"], 2) << "a number for programs";
  EXPECT_EQ(row["tied"], true);
}

TEST(FormatLeaderboard, SaysWhyARowHasNoRank) {
  LeaderboardRow unranked = sample_row();
  unranked.rank = 0;
  unranked.unranked = "evaluator 6";
  ++unranked.evaluator_version; // on the board of the first row all the same
  const std::string text = format_leaderboard({sample_row(), unranked}, Format::Table);
  EXPECT_THAT(text, HasSubstr("not ranked because"));
  EXPECT_THAT(text, HasSubstr("\n     -                   2.35x"));
  EXPECT_THAT(text, HasSubstr("  evaluator 6\n"));
  EXPECT_THAT(format_leaderboard({sample_row()}, Format::Table), Not(HasSubstr("not ranked")));
  EXPECT_THAT(format_leaderboard({unranked}, Format::Markdown), HasSubstr("| - | 2.35x |"));
  EXPECT_THAT(format_leaderboard({unranked}, Format::Csv), HasSubstr("Test CPU,,2.3456,"));
  EXPECT_THAT(format_leaderboard({unranked}, Format::Csv), HasSubstr(",evaluator 6\r\n"));
  const json row = json::parse(format_leaderboard({unranked}, Format::Json))["rows"][0];
  EXPECT_EQ(row["rank"], nullptr);
  EXPECT_EQ(row["unranked"], "evaluator 6");
}

struct ExportedStore : TestStore {
  ExportedStore() {
    const json request = {{"messages", {{{"role", "user"}, {"content", "SECRET PROMPT"}}}}};
    const RowId call = store.begin_call(run, task, "a", "replay", "some-model", request);
    ModelCallRow outcome;
    outcome.status = "ok";
    outcome.reply = "SECRET REPLY";
    store.finish_call(call, outcome);
    best =
        add("a", "__global__ void best() {}\n```\nlooks like a fence\n", {correct_evaluation(2)});
    add("b", "__global__ void wrong() {}\n", {wrong_evaluation()});
    tasks::Evaluation no_code;
    no_code.verdict = tasks::Verdict::BadReply;
    no_code.detail = "no code in the reply";
    add("c", "SECRET REPLY without code", {no_code});
    add("d", "SECRET REPLY not judged yet", {});
  }
  RowId best = 0;
};

TEST(ExportRun, JsonHasEverythingThatMayLeave) {
  ExportedStore t;
  const std::string text = export_run(t.store, {}, Format::Json);
  const json document = json::parse(text);
  EXPECT_EQ(document["schema"], "winnow.export");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["runs"][0]["name"], "first");
  EXPECT_EQ(document["leaderboard"][0]["candidate"], t.best);
  EXPECT_EQ(document["verdict_counts"].size(), 4U);
  ASSERT_EQ(document["candidates"].size(), 4U);
  const json& best = document["candidates"][0];
  EXPECT_EQ(best["verdict"], "correct");
  EXPECT_EQ(best["rank"], 1);
  EXPECT_EQ(best["model"], "some-model");
  EXPECT_THAT(best["kernel_file"].get<std::string>(), HasSubstr("void best()"));
  EXPECT_EQ(best["evaluation"]["cases"].size(), 2U);
  EXPECT_EQ(document["candidates"][1]["verdict"], "wrong");
  EXPECT_EQ(document["candidates"][1]["rank"], nullptr);
  EXPECT_EQ(document["candidates"][3]["evaluation"], nullptr);
}

TEST(ExportRun, NoPromptReplyOrHiddenShapeLeaves) {
  ExportedStore t;
  for (const Format format : {Format::Table, Format::Json, Format::Csv, Format::Markdown}) {
    const std::string text = export_run(t.store, {}, format);
    EXPECT_THAT(text, Not(HasSubstr("SECRET")));
    EXPECT_THAT(text, Not(HasSubstr("123457")));
    EXPECT_THAT(text, HasSubstr("wrong"));
  }
}

TEST(ExportRun, MarkdownFencesCannotBeClosedByAKernelFile) {
  ExportedStore t;
  const std::string text = export_run(t.store, {}, Format::Markdown);
  EXPECT_THAT(text,
              HasSubstr("\n````cuda\n__global__ void best() {}\n```\nlooks like a fence\n````\n"));
}

TEST(ExportRun, CsvHasARowForEachCandidate) {
  ExportedStore t;
  const std::string text = export_run(t.store, {}, Format::Csv);
  EXPECT_THAT(text, StartsWith("run,task,candidate,parent,origin,model,verdict,"));
  EXPECT_THAT(text, HasSubstr("\r\nfirst,axpy,1,,model,some-model,correct,done,1,2,500,"));
  EXPECT_THAT(text, HasSubstr("\r\nfirst,axpy,4,,model,,not_judged,,,,,"));
}

TEST(ExportRun, SaysWhoIsTiedAndWithinWhichBounds) {
  TestStore t;
  tasks::Evaluation bounded = correct_evaluation(2);
  bounded.speedup_bounds = {1.5, 2.5};
  t.add("a", "1", {bounded});
  t.add("b", "2", {correct_evaluation(1.75)});
  t.add("c", "3", {correct_evaluation(1)});
  t.add("d", "4", {wrong_evaluation()});
  const json document = json::parse(export_run(t.store, {}, Format::Json));
  EXPECT_EQ(document["leaderboard"][0]["speedup_bounds"], json({1.5, 2.5}));
  const json& candidates = document["candidates"];
  EXPECT_EQ(candidates[0]["evaluation"]["speedup_bounds"], json({1.5, 2.5}));
  EXPECT_EQ(candidates[1]["rank"], 1) << "within the noise of the first";
  EXPECT_EQ(candidates[1]["tied"], true);
  EXPECT_EQ(candidates[2]["tied"], false);
  EXPECT_EQ(candidates[3]["tied"], nullptr);
  EXPECT_THAT(export_run(t.store, {}, Format::Csv),
              HasSubstr(",dollars,tied,speedup_low,speedup_high,unranked,detail,kernel_file\r\n"));
  EXPECT_THAT(export_run(t.store, {}, Format::Markdown), Not(HasSubstr("kernel_file")));
}

TEST(ExportRun, SaysWhyACandidateHasNoRank) {
  TestStore t;
  tasks::Evaluation given = correct_evaluation(2);
  given.unranked = "its seed was given";
  t.add("a", "1", {given});
  const json document = json::parse(export_run(t.store, {}, Format::Json));
  const json& candidate = document["candidates"][0];
  EXPECT_EQ(candidate["rank"], nullptr);
  EXPECT_EQ(candidate["unranked"], "its seed was given");
  EXPECT_EQ(candidate["evaluation"]["seed"], "18446744073709551615");
  EXPECT_THAT(export_run(t.store, {}, Format::Csv), HasSubstr(",its seed was given,"));
  EXPECT_THAT(export_run(t.store, {}, Format::Markdown), HasSubstr("| its seed was given |"));
}

TEST(ExportRun, KeepsToTheRunTaskAndDeviceAskedFor) {
  ExportedStore t;
  t.run = t.store.create_run("second", nullptr, nullptr);
  t.add("a", "text", {correct_evaluation(3)});
  const auto candidates = [&](const LeaderboardQuery& query) {
    return json::parse(export_run(t.store, query, Format::Json))["candidates"].size();
  };
  EXPECT_EQ(candidates({}), 5U);
  EXPECT_EQ(candidates({.task = "", .device = "", .run = "second"}), 1U);
  EXPECT_EQ(candidates({.task = "axpy", .device = "cpu", .run = "first"}), 2U);
  EXPECT_EQ(candidates({.task = "gemm", .device = "", .run = ""}), 0U);
}

} // namespace
} // namespace winnow::store
