#include "base/text.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/report/board_report.h"
#include "harness/report/text_table.h"
#include "harness/run/reports/reports.h"
#include "store/board/board.h"
#include "store/candidate_record.h"
#include "store/leaderboard_format.h"
#include "store/test_store.h"
#include "tasks/proof.h"
#include "tasks/result/fitted.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using harness::export_run;
using harness::Format;
using harness::format_leaderboard;
using harness::markdown_text;
using harness::TextTable;
using harness::to_aligned_text;
using harness::to_csv;
using harness::to_markdown;
using nlohmann::json;
using testing::correct_evaluation;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::query_file;
using ::testing::StartsWith;
using testing::TestStore;
using testing::wrong_evaluation;

/// The override of a text's direction, in two literals: in one it could mislead a reader of this
/// file.
const std::string kRightToLeft = std::string("\xE2\x80") + "\xAE";

LeaderboardRow sample_row() {
  LeaderboardRow row;
  row.task = "axpy";
  row.device = "cpu";
  row.device_name = "Test CPU";
  row.rank = 1;
  row.candidate_id = 12;
  row.evaluation_id = 34;
  row.run_id = 1;
  row.run = "first";
  row.origin = "model";
  row.model = row.author = "modèle";
  row.parameters = R"({"BLOCK":128,"VEC":4})";
  row.speedup = 2.3456;
  row.score_ns = 412345;
  row.shapes = {"n=1000", "n=1003"};
  row.isolation = "bubblewrap";
  row.digest = "0123456789abcdef";
  row.evaluated_at = "2026-11-20T09:44:26.123Z";
  row.task_digest = "feedbeef01";
  row.lines = 40;
  row.evaluator_version = evaluators::kEvaluatorVersion;
  return row;
}

TEST(TextTable, AlignsByCodePointsAndKeepsTheTerminalClean) {
  const TextTable table{{{"name", false}, {"n", true}},
                        {{"é", "10"}, {"plain", "7"}, {"a\nb\x1b[31m", ""}}};
  EXPECT_EQ(to_aligned_text(table, 2), "  name            n\n"
                                       "  é              10\n"
                                       "  plain           7\n"
                                       "  a b\\u001b[31m\n");
}

TextTable wide_table() {
  return {{{"rank", true}, {"speedup over it", true}, {"file", false, true}, {"by whom"}},
          {{"1", "2.35x", "01234567", "a recorded-model"}, {"2", "1.00x", "89abcdef", "baseline"}}};
}

TEST(TextTable, BreaksHeadingsAtSpacesBeforeAnythingElse) {
  EXPECT_EQ(to_aligned_text(wide_table(), 2, 45), "  rank  speedup  file      by whom\n"
                                                  "        over it\n"
                                                  "     1    2.35x  01234567  a recorded-model\n"
                                                  "     2    1.00x  89abcdef  baseline\n");
}

TEST(TextTable, LeavesOutWhatMayGoAndSaysSo) {
  EXPECT_EQ(to_aligned_text(wide_table(), 0, 40), "rank  speedup over it  by whom\n"
                                                  "   1            2.35x  a recorded-model\n"
                                                  "   2            1.00x  baseline\n"
                                                  "no room for: file\n");
}

TEST(TextTable, BreaksCellsAtSpacesAndThenCutsWordsShort) {
  EXPECT_EQ(to_aligned_text(wide_table(), 0, 29), "rank  speedup  by whom\n"
                                                  "      over it\n"
                                                  "   1    2.35x  a\n"
                                                  "               recorded-model\n"
                                                  "   2    1.00x  baseline\n"
                                                  "no room for: file\n");
  EXPECT_EQ(to_aligned_text(wide_table(), 0, 25), "rank  speedup  by whom\n"
                                                  "      over it\n"
                                                  "   1    2.35x  a\n"
                                                  "               recorde\u2026\n"
                                                  "   2    1.00x  baseline\n"
                                                  "no room for: file\n");
}

TEST(TextTable, CsvQuotesWhatNeedsIt) {
  const TextTable table{{{"a", false}, {"b", false}}, {{"x,y", "say \"hi\""}, {"two\nlines", ""}}};
  EXPECT_EQ(to_csv(table), "a,b\r\n\"x,y\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",\r\n");
}

TEST(TextTable, CsvCellsAreNeverFormulas) {
  const TextTable table{{{"a", false}, {"b", false}},
                        {{"=cmd()", "@SUM(A1)"},
                         {"+1+cmd", "-2.5"},
                         {"-x", "-inf"},
                         {std::string("a\0b", 3), "lone \xED\xA0\x80"},
                         {"one\r\ntwo", kRightToLeft + "right"}}};
  EXPECT_EQ(to_csv(table), "a,b\r\n'=cmd(),'@SUM(A1)\r\n'+1+cmd,-2.5\r\n'-x,-inf\r\n"
                           "a\uFFFDb,lone \uFFFD\uFFFD\uFFFD\r\n"
                           "\"one\r\ntwo\",\u202Eright\r\n");
}

TEST(TextTable, MarkdownCellsCannotBreakTheTable) {
  const TextTable table{{{"a", false}, {"b", true}}, {{"x|y\nz", "<script>"}}};
  EXPECT_EQ(to_markdown(table), "| a | b |\n|---|---:|\n| `x\\|y z` | `<script>` |\n");
}

TEST(TextTable, MarkdownShowsForeignTextWithoutLinks) {
  EXPECT_EQ(markdown_text("row_softmax, 2.50x (cpu)"), "row_softmax, 2.50x (cpu)");
  EXPECT_EQ(markdown_text("see http://evil"), "`see http://evil`");
  EXPECT_EQ(markdown_text("WWW.evil.com"), "`WWW.evil.com`");
  EXPECT_EQ(markdown_text("![x](y)"), "`![x](y)`");
  EXPECT_EQ(markdown_text("@octocat #1"), "`@octocat #1`");
  EXPECT_EQ(markdown_text("a`b``c"), "```a`b``c```");
  EXPECT_EQ(markdown_text("`a"), "`` `a ``");
  EXPECT_EQ(markdown_text("a\\|b"), "`a\\ \\|b`");
  EXPECT_EQ(markdown_text("a" + kRightToLeft + "b"), "`a\\u202eb`");
}

TEST(TextTable, IsSplitWhereItMayBe) {
  TextTable table = wide_table();
  table.splits = true;
  EXPECT_EQ(to_aligned_text(table, 0, 25), "rank  speedup  file\n"
                                           "      over it\n"
                                           "   1    2.35x  01234567\n"
                                           "   2    1.00x  89abcdef\n"
                                           "\n"
                                           "rank  by whom\n"
                                           "   1  a recorded-model\n"
                                           "   2  baseline\n");
}

TEST(FormatLeaderboard, TableGroupsByTaskAndDevice) {
  LeaderboardRow second = sample_row();
  second.rank = 2;
  second.origin = second.author = "baseline";
  second.model = "";
  second.parameters = "{}";
  second.speedup = 1;
  second.score_ns = 1.5e9;
  LeaderboardRow other = second;
  other.task = "gemm";
  other.score_ns = 15;
  EXPECT_THAT(
      format_leaderboard({sample_row(), second, other}, Format::Table),
      StartsWith(
          "axpy on cpu (Test CPU), isolation bubblewrap, evaluated 2026-11-20 09:44\n"
          "  shapes: n=1000; n=1003\n"
          "  rank  speedup      time  candidate  file      by        parameters\n"
          "     1    2.35x  412.3 us         12  01234567  modèle    BLOCK=128 VEC=4\n"
          "     2    1.00x   1.500 s         12  01234567  baseline\n"
          "\n"
          "gemm on cpu (Test CPU), by baseline, isolation bubblewrap, evaluated 2026-11-20 09:44\n"
          "  shapes: n=1000; n=1003\n"
          "  rank  speedup      time  candidate  file\n"
          "     2    1.00x  15.00 ns         12  01234567\n"
          "\n"
          "speedup: how many times as fast as baseline.cu"));
}

TEST(FormatLeaderboard, FitsTheTerminal) {
  LeaderboardRow long_row = sample_row();
  long_row.speedup = 327.09;
  long_row.speedup_bounds = {296.55, 356.21};
  long_row.model = "a-provider/recorded-model-of-2026";
  long_row.parameters = R"({"BLOCK":128,"ROWS":32,"STAGES":4,"VEC":4})";
  long_row.unranked = "its timings can be memorised: all inputs are constants";
  long_row.isolation = "landlock+seccomp";
  LeaderboardRow later = sample_row();
  later.evaluated_at = "2026-11-20T09:59:26.123Z";
  later.device_name = long_row.device_name = "A CPU with a long name (32 cores, 2.9 GHz), 2 cores";
  const auto widest = [&](std::size_t columns) {
    std::size_t width = 0;
    const std::string text = format_leaderboard({long_row, later}, Format::Table, {}, columns);
    for (const std::string_view line : split_lines(text)) {
      width = std::max(width, display_width(line));
    }
    return width;
  };
  EXPECT_LE(widest(80), 80U);
  EXPECT_LE(widest(120), 120U);
  EXPECT_GT(widest(0), 120U);
  long_row.speedup_bounds = {25.46, 11685.03}; // on a machine with other load
  long_row.held_out_speedup = 205.25;
  later.flag = "not in the final";
  EXPECT_LE(widest(80), 80U);
}

TEST(FormatLeaderboard, SaysWhyAKernelOfAFinalHasNoHeldOutSpeedup) {
  LeaderboardRow counted = sample_row(), small = sample_row(), old = sample_row();
  counted.held_out_speedup = 1.5;
  small.held_out_note = store::kNoneCounts;
  const std::string text = format_leaderboard({counted, small}, Format::Table);
  EXPECT_THAT(text, HasSubstr("     1    2.35x        1.50x  412.3 us"));
  EXPECT_THAT(text, HasSubstr("     1    2.35x  none counts  412.3 us"));
  EXPECT_THAT(text, HasSubstr("where the baseline takes at least 20 us (on a CPU 500 us)"));
  EXPECT_THAT(text, Not(HasSubstr("older Winnow")));
  old.held_out_note = store::kNotKnown;
  EXPECT_THAT(format_leaderboard({old}, Format::Markdown), HasSubstr("older Winnow"));
}

TEST(FormatLeaderboard, MarksAKernelThatIsFittedToTheShownShapes) {
  LeaderboardRow row = sample_row();
  EXPECT_THAT(format_leaderboard({row}, Format::Table), Not(HasSubstr("fitted")));
  row.fitted = tasks::kFitted;
  const LeaderboardRow other = sample_row();
  EXPECT_THAT(format_leaderboard({row, other}, Format::Table),
              HasSubstr("  fitted to the shown shapes\n"));
  EXPECT_THAT(format_leaderboard({row}, Format::Markdown),
              HasSubstr("flag fitted to the shown shapes"));
  EXPECT_EQ(json::parse(format_leaderboard({row}, Format::Json))["rows"][0]["fitted"],
            "fitted to the shown shapes");
}

TEST(FormatLeaderboard, SaysWhatWasFoundInTheMachineCode) {
  LeaderboardRow row = sample_row();
  EXPECT_THAT(format_leaderboard({row}, Format::Table), Not(HasSubstr("machine code")));
  row.findings = {{tasks::FindingKind::ClockRead, "k: 1 instruction"},
                  {tasks::FindingKind::MutableGlobal, "counter (4 bytes)"}};
  const std::string text = format_leaderboard({sample_row(), row}, Format::Table);
  EXPECT_THAT(text, HasSubstr("  machine code\n"));
  EXPECT_THAT(text, HasSubstr("  keeps state, reads the clock\n"));
  EXPECT_THAT(format_leaderboard({row}, Format::Csv), HasSubstr("counter (4 bytes)"));
  EXPECT_THAT(format_leaderboard({row}, Format::Json), HasSubstr("counter (4 bytes)"));
}

TEST(FormatLeaderboard, RevisionsAreNamedWhereThereAreSeveral) {
  LeaderboardRow revised = sample_row();
  revised.task_digest = "0ddba11500";
  const std::string text = format_leaderboard({sample_row(), revised}, Format::Table);
  const std::string evaluator = "evaluator " + std::to_string(evaluators::kEvaluatorVersion) + ",";
  for (const std::string revision : {"feedbeef", "0ddba115"}) {
    EXPECT_THAT(text,
                HasSubstr("axpy on cpu (Test CPU), task revision " + revision + ", " + evaluator));
  }
}

TEST(FormatLeaderboard, NothingToShowIsSaid) {
  EXPECT_EQ(format_leaderboard({}, Format::Table), "No candidate is correct and timed yet.\n");
  EXPECT_EQ(json::parse(format_leaderboard({}, Format::Json))["rows"], json::array());
  EXPECT_THAT(format_leaderboard({}, Format::Csv), StartsWith("task,device,"));
}

TEST(FormatLeaderboard, JsonIsVersioned) {
  const json document = json::parse(format_leaderboard({sample_row()}, Format::Json));
  EXPECT_EQ(document["schema"], "winnow.leaderboard");
  EXPECT_EQ(document["version"], 2);
  const json& row = document["rows"][0];
  EXPECT_EQ(row["run"], "first");
  EXPECT_EQ(row["run_id"], 1);
  EXPECT_EQ(row["shapes"], json({"n=1000", "n=1003"}));
  EXPECT_EQ(row["rank"], 1);
  EXPECT_EQ(row["speedup"], 2.3456);
  EXPECT_EQ(row["parameters"]["VEC"], 4);
  EXPECT_EQ(row["model"], "modèle");
  EXPECT_EQ(row["task_digest"], "feedbeef01");
}

TEST(FormatLeaderboard, CsvAndMarkdownHoldTheRows) {
  const std::string csv = format_leaderboard({sample_row()}, Format::Csv);
  EXPECT_THAT(csv, StartsWith("task,device,device_name,rank,tied,unranked,speedup,speedup_low,"));
  EXPECT_THAT(csv, HasSubstr("\r\naxpy,cpu,Test CPU,1,false,,2.3456,,,412345.0,12,34,1,first,model,"
                             "modèle,\"{\"\"BLOCK\"\":128,\"\"VEC\"\":4}\",bubblewrap,"));
  const std::string markdown = format_leaderboard({sample_row()}, Format::Markdown);
  EXPECT_THAT(markdown, HasSubstr("## axpy on cpu (Test CPU), by modèle,"));
  EXPECT_THAT(markdown, HasSubstr("\n\n| rank | speedup | time |"));
  EXPECT_THAT(markdown, HasSubstr("| 1 | 2.35x | 412.3 us | 12 |"));
}

TEST(FormatLeaderboard, CsvHasTheFieldsOfJson) {
  const json row = json::parse(format_leaderboard({sample_row()}, Format::Json))["rows"][0];
  const std::string csv = format_leaderboard({sample_row()}, Format::Csv);
  std::string heading = csv.substr(0, csv.find('\r')) + ",";
  for (const auto& [name, value] : row.items()) {
    const auto at = heading.find(name + ",");
    ASSERT_NE(at, std::string::npos) << name;
  }
}

TEST(FormatLeaderboard, TheIntervalStandsBesideTheSpeedupWhereOneIsKnown) {
  LeaderboardRow bounded = sample_row();
  bounded.speedup = 1.27;
  bounded.speedup_bounds = {1.2512, 1.2876};
  const std::string text = format_leaderboard({bounded, sample_row()}, Format::Table);
  EXPECT_THAT(text, HasSubstr("  rank  speedup       95 %      time"));
  EXPECT_THAT(text, HasSubstr("     1    1.27x  1.25-1.29  412.3 us"));
  EXPECT_THAT(text, HasSubstr("     1    2.35x             412.3 us"));
  EXPECT_THAT(format_leaderboard({bounded}, Format::Markdown),
              HasSubstr("| 1 | 1.27x | 1.25-1.29 | 412.3 us |"));
  EXPECT_THAT(format_leaderboard({bounded}, Format::Csv), HasSubstr(",1.27,1.2512,1.2876,"));
  const json rows = json::parse(format_leaderboard({bounded, sample_row()}, Format::Json))["rows"];
  EXPECT_EQ(rows[0]["speedup_low"], 1.2512);
  EXPECT_EQ(rows[0]["speedup_high"], 1.2876);
  EXPECT_EQ(rows[1]["speedup_low"], nullptr);
}

TEST(FormatLeaderboard, ASharedRankIsMarked) {
  LeaderboardRow tied = sample_row();
  tied.rank = 2;
  tied.tied = true;
  EXPECT_THAT(format_leaderboard({sample_row(), tied}, Format::Table),
              HasSubstr("\n    =2    2.35x"));
  EXPECT_THAT(format_leaderboard({tied}, Format::Markdown), HasSubstr("| =2 | 2.35x |"));
  EXPECT_THAT(format_leaderboard({tied}, Format::Csv), HasSubstr("Test CPU,2,true,,2.3456,"));
  const json row = json::parse(format_leaderboard({tied}, Format::Json))["rows"][0];
  EXPECT_EQ(row["rank"], 2) << "a number for programs";
  EXPECT_EQ(row["tied"], true);
}

TEST(FormatLeaderboard, SaysWhyARowHasNoRank) {
  LeaderboardRow unranked = sample_row();
  unranked.rank = 0;
  unranked.unranked = "evaluator 6";
  ++unranked.evaluator_version; // still on the board of the first row
  const std::string text = format_leaderboard({sample_row(), unranked}, Format::Table);
  EXPECT_THAT(text, HasSubstr("  flag\n"));
  EXPECT_THAT(text, HasSubstr("\n     -    2.35x"));
  EXPECT_THAT(text, HasSubstr("  evaluator 6\n"));
  EXPECT_THAT(format_leaderboard({sample_row()}, Format::Table), Not(HasSubstr("not ranked")));
  EXPECT_THAT(format_leaderboard({unranked}, Format::Markdown), HasSubstr("| - | 2.35x |"));
  EXPECT_THAT(format_leaderboard({unranked}, Format::Csv),
              HasSubstr("Test CPU,,,evaluator 6,2.3456,"));
  const json row = json::parse(format_leaderboard({unranked}, Format::Json))["rows"][0];
  EXPECT_EQ(row["rank"], nullptr);
  EXPECT_EQ(row["unranked"], "evaluator 6");
}

TEST(Leaderboard, ShowsBaselinesUnderTheirGroup) {
  const LeaderboardRow row = sample_row();
  BaselineStanding eager{"baseline.cu",
                         row.task,
                         row.task_digest,
                         row.device,
                         row.device_name,
                         row.evaluator_version,
                         "torch eager",
                         "2.9.1",
                         1.3,
                         {},
                         1,
                         true,
                         ""};
  BaselineStanding compiled = eager;
  compiled.name = "torch.compile";
  compiled.relative_time = 0;
  compiled.note = "no time at search/0";
  const BoardFacts facts{{eager, compiled}, {}, {}, {}};
  EXPECT_THAT(format_leaderboard({row}, Format::Table, facts),
              HasSubstr("\n  torch eager 2.9.1: 1.3x the time of baseline.cu, over 1 shape\n"
                        "  torch.compile 2.9.1: not compared with baseline.cu: no time at "
                        "search/0\n"));
  EXPECT_THAT(format_leaderboard({row}, Format::Markdown, facts),
              HasSubstr("\n\n- torch eager 2.9.1: 1.3x the time of baseline.cu"));
}

TEST(Leaderboard, ShowsTheCostOfAReply) {
  LeaderboardRow paid = sample_row();
  paid.dollars = 0.5;
  EXPECT_THAT(format_leaderboard({paid}, Format::Table), HasSubstr("$0.5000"));
}

struct RevisedStore : TestStore {
  RowId add_to(const std::string& digest, const std::string& text, bool promoted = true) {
    tasks::Task revised = testing::sample_task();
    revised.digest = digest;
    CandidateRow row;
    row.origin = "baseline";
    row.text = text;
    const RowId id = store.add_candidate(run, store.add_task(revised), row);
    tasks::Evaluation evaluation = correct_evaluation(2);
    evaluation.promoted = promoted;
    store.add_evaluations(id, {evaluation});
    return id;
  }
  std::string text(Format format) const {
    auto rows = store.leaderboard({});
    return format_leaderboard(rows, format, board_facts(store, {}, rows), 0);
  }
};

constexpr const char* kOld = "old: the task has changed; its newest revision in this store is ";

TEST(Leaderboard, ABoardOfATaskThatIsNotProvenSaysSoEverywhereInTheSameWords) {
  TestStore t;
  setenv("XDG_STATE_HOME", (t.directory.path() / "state").c_str(), 1);
  tasks::Task task = testing::sample_task("mine");
  task.folder = t.directory.path() / "mine";
  t.task = t.store.add_task(task);
  const RowId candidate = t.add("mine/0/0", "// kernel", {correct_evaluation(2)});
  const auto text = [&](Format format) {
    auto rows = t.store.leaderboard({});
    return format_leaderboard(rows, format, board_facts(t.store, {}, rows), 0);
  };
  const std::string note = "the task mine is not proven on cpu: run `winnow tasks selftest "
                           "FOLDER_OF_THE_TASK --device cpu`";
  for (const Format format : {Format::Table, Format::Markdown, Format::Json, Format::Csv}) {
    EXPECT_THAT(text(format), HasSubstr(note));
  }
  EXPECT_THAT(board_page(t.store, {}), HasSubstr(note));
  EXPECT_THAT(t.store.candidate_record(candidate).task_proof, HasSubstr(note));
  tasks::keep_proof(task.digest, "cpu", true);
  EXPECT_THAT(text(Format::Table), ::testing::Not(HasSubstr("not proven")));
  tasks::keep_proof(task.digest, "cpu", false);
  EXPECT_THAT(text(Format::Table),
              HasSubstr("not proven on cpu, its last selftest did not prove it: run "));
  unsetenv("XDG_STATE_HOME");
}

TEST(Leaderboard, ABoardOfAnOldRevisionSaysSoEverywhereInTheSameWords) {
  RevisedStore t;
  t.add_to("0123456789", "1");
  EXPECT_THAT(t.text(Format::Json), ::testing::Not(HasSubstr(kOld)));
  const RowId newer = t.add_to("abcdef0123456", "2");
  const std::string note = kOld + std::string("abcdef01");
  for (const Format format : {Format::Table, Format::Markdown, Format::Json, Format::Csv}) {
    EXPECT_THAT(t.text(format), HasSubstr(note));
  }
  EXPECT_THAT(board_page(t.store, {}), HasSubstr(note));
  EXPECT_EQ(t.store.candidate_record(newer - 1).task_note, note);
  for (const LeaderboardRow& row : t.store.leaderboard({})) {
    EXPECT_EQ(row.task_note, row.task_digest == "0123456789" ? note : "");
  }
  t.add_to("0123456789", "3"); // the user has gone back
  EXPECT_THAT(t.text(Format::Table), HasSubstr(kOld + std::string("01234567")));
}

TEST(Leaderboard, AnOldRevisionWithoutARankSaysSoToo) {
  RevisedStore t;
  t.add_to("0123456789", "1", false);
  t.add_to("abcdef0123456", "2", false);
  EXPECT_THAT(t.text(Format::Table), HasSubstr(kOld));
  EXPECT_THAT(t.text(Format::Json), HasSubstr(kOld));
}

// The evaluations say that b is faster. The final says that a is.
TEST(Export, HasTheNumbersThatItsRanksRestOn) {
  TestStore t;
  t.add("x/0/0", "a", {correct_evaluation(2)});
  t.add("x/0/1", "b", {correct_evaluation(8)});
  tasks::SittingResult final;
  final.device = "cpu";
  final.device_name = "Test CPU, 2 cores";
  final.evaluator_version = 7;
  const auto before = t.store.leaderboard({});
  for (const int place : {1, 2}) { // in the order of the final
    tasks::SittingRow& row = final.rows.emplace_back();
    row.kernel = before.at(static_cast<std::size_t>(2 - place)).kernel;
    row.verdict = tasks::Verdict::Correct;
    row.rank = place;
    row.speedup = place == 1 ? 6 : 4;
    row.speedup_bounds = {row.speedup * 0.5, row.speedup * 2};
    row.score_ns = 5000 / row.speedup;
  }
  t.store.add_sitting(std::nullopt, t.task, final);
  t.add("x/0/2", "late", {correct_evaluation(5)});
  BaselineTiming timing;
  timing.name = "torch eager";
  timing.version = "2.9.1";
  timing.device = "cpu";
  timing.device_name = "Test CPU, 2 cores";
  timing.shape_id = "search/0";
  timing.median_ns = 201.5 * 1.3; // of correct_evaluation()
  t.store.add_baseline_timings(t.task, {timing});
  const std::string csv = export_run(t.store, {}, Format::Csv);
  EXPECT_THAT(csv, HasSubstr(",1,false,,,6.0,3.0,12.0,"));
  EXPECT_THAT(csv, HasSubstr(",not in the final,not in the final,5.0,"));
  EXPECT_THAT(csv, Not(HasSubstr("torch eager")));
  const std::string markdown = export_run(t.store, {}, Format::Markdown);
  EXPECT_THAT(markdown, HasSubstr("| correct | 1 | 6.00x |"));
  EXPECT_THAT(markdown, HasSubstr("| correct | 2 | 4.00x |"));
  EXPECT_THAT(markdown, HasSubstr("torch eager 2.9.1: 1.3x"));
}

TEST(Leaderboard, ClientsOfAServerSeeNothingOfHeldOutShapes) {
  TestStore t;
  t.add("x/0/0", "a", {correct_evaluation(2)});
  tasks::SittingResult final;
  final.device = "cpu";
  final.device_name = "Test CPU, 2 cores";
  final.evaluator_version = 7;
  tasks::SittingRow& row = final.rows.emplace_back();
  row.kernel = t.store.leaderboard({}).at(0).kernel;
  row.verdict = tasks::Verdict::Correct;
  row.rank = 1;
  row.speedup = 6;
  row.held_out_speedup = 2;
  row.times = {{"held_out/0", 1e6, 2e6, 2, true}};
  t.store.add_sitting(std::nullopt, t.task, final);
  harness::BoardReport asked;
  for (const char* format : {"json", "table"}) {
    asked.format = format;
    asked.without_hidden = false;
    EXPECT_THAT(board_report(t.store, asked), HasSubstr("held_out/0"));
    EXPECT_THAT(board_report(t.store, asked), HasSubstr(tasks::kFitted));
    asked.without_hidden = true;
    EXPECT_THAT(board_report(t.store, asked), Not(HasSubstr("held_out/0")));
    EXPECT_THAT(board_report(t.store, asked), Not(HasSubstr(tasks::kFitted)));
  }
}

struct ExportedStore : TestStore {
  ExportedStore() {
    const json request = {{"messages", {{{"role", "user"}, {"content", "SECRET PROMPT"}}}}};
    const RowId call = store.begin_call(run, task, "a", "replay", "some-model", request);
    ModelCallRow outcome;
    outcome.status = "ok";
    outcome.text = "SECRET REPLY";
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
  EXPECT_EQ(document["version"], 2);
  EXPECT_EQ(document["runs"][0]["run"], "first");
  EXPECT_EQ(document["leaderboard"][0]["candidate_id"], t.best);
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
  for (const Format format : {Format::Json, Format::Csv, Format::Markdown}) {
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
  EXPECT_THAT(text, StartsWith("run_id,run,task,candidate_id,parent_id,origin,model,verdict,"));
  EXPECT_THAT(text, HasSubstr("\r\n1,first,axpy,1,,model,some-model,correct,done,1,false,,not in "
                              "the final,2.0,,,500.0,"));
  EXPECT_THAT(text, HasSubstr("\r\n1,first,axpy,4,,model,,not_judged,,,,,"));
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
  EXPECT_EQ(document["leaderboard"][0]["speedup_high"], 2.5);
  const json& candidates = document["candidates"];
  EXPECT_EQ(candidates[0]["evaluation"]["speedup_low"], 1.5);
  EXPECT_EQ(candidates[1]["rank"], 1) << "within the noise of the first";
  EXPECT_EQ(candidates[1]["tied"], true);
  EXPECT_EQ(candidates[2]["tied"], false);
  EXPECT_EQ(candidates[3]["tied"], nullptr);
  EXPECT_EQ(query_file(t.path, "SELECT tied FROM leaderboard ORDER BY rank, speedup DESC"),
            (std::vector<std::string>{"1", "1", "0"}));
}

TEST(ExportRun, MarkdownIsMadeForReading) {
  ExportedStore t;
  const std::string text = export_run(t.store, {}, Format::Markdown);
  EXPECT_THAT(text, HasSubstr("| first | axpy | 1 |  | some-model | correct | 1 | 2.00x | "));
  EXPECT_THAT(text, HasSubstr("| y is wrong in the last tile |\n"));
  EXPECT_THAT(text, Not(::testing::ContainsRegex("[0-9a-f]{9}"))) << "no long digest";
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
