#include "base/text/shell_word.h"
#include "harness/doctor/doctor.h"
#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "harness/run/run_report.h"
#include "store/candidate_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

tasks::CaseResult timed_case(tasks::ShapeSet set, const std::string& shape) {
  tasks::CaseResult result;
  result.stage = tasks::Stage::Time;
  result.set = set;
  result.shape = shape;
  result.verdict = tasks::Verdict::Correct;
  result.max_error_ratio = 0.25;
  result.median_ns = 1000;
  result.baseline_median_ns = 3000;
  result.speedup = 3;
  return result;
}

TEST(JsonTable, FillsPathsWithTheirValues) {
  const nlohmann::json document{{"a", {{"b", 3}}}, {"name", "x{a}"}, {"none", nullptr}};
  EXPECT_EQ(filled("{name}: {a/b} of {none}{missing}.", document), "x{a}: 3 of .");
}

TEST(EvalReport, ShowsEachShapeAndTheVerdict) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.speedup = 3;
  evaluation.parameters = {{"BLOCK", 128}};
  evaluation.notes = {"kernel 'x' is in no launch"};
  evaluation.cases = {timed_case(tasks::ShapeSet::Search, "n=1000")};
  const std::string text = eval_text(evaluation_json(evaluation));
  for (const char* part : {"n=1000", "3.00x", "0.25", "1.00", "verdict: correct",
                           "3.00x the speed of baseline.cu", "note: kernel 'x'", "BLOCK=128"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(EvalReport, GivesTheReasonOfEveryKindOfFailure) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::UnwrittenOutput;
  evaluation.detail = "tiny/0 (n=7): never written";
  for (const char* number : {"1", "2"}) {
    tasks::CaseResult& refused = evaluation.cases.emplace_back();
    refused.verdict = tasks::Verdict::LaunchError;
    refused.shape_id = std::string("tiny/") + number;
    refused.shape = "n=100";
    refused.detail = "misaligned address";
  }
  const std::string text = eval_text(evaluation_json(evaluation));
  EXPECT_THAT(text, HasSubstr("\nalso launch_error: tiny/1 (n=100): misaligned address\n"));
  EXPECT_THAT(text, Not(HasSubstr("tiny/2 (n=100)")));
  evaluation.detail += "\nseen as: misaligned address";
  EXPECT_THAT(eval_text(evaluation_json(evaluation)), Not(HasSubstr("also")));
}

TEST(EvalReport, ShowsThatCheckModeFailed) {
  tasks::Evaluation evaluation;
  evaluation.cases = {timed_case(tasks::ShapeSet::Search, "n=1000")};
  evaluation.stage = tasks::Stage::Check;
  evaluation.verdict = tasks::Verdict::OutOfBounds;
  EXPECT_THAT(eval_text(evaluation_json(evaluation)),
              testing::ContainsRegex("check +.all tiny shapes. +out_of_bounds"));
}

TEST(EvalReport, PrintsACompilerErrorOnce) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::CompileError;
  evaluation.stage = tasks::Stage::Compile;
  evaluation.detail = "a.cu:1:2: bad\n  1 | x\nThere is host code in line 3";
  evaluation.build.log = "a.cu:1:2: bad\n  1 | x\na.cu:9:1: worse\n  9 | y\n";
  EXPECT_THAT(eval_text(evaluation_json(evaluation)),
              HasSubstr("detail: a.cu:1:2: bad\n  1 | x\nThere is host code in line 3\n"
                        "a.cu:9:1: worse\n  9 | y\n"));
  EXPECT_EQ(eval_text(evaluation_json(evaluation)).find("bad"),
            eval_text(evaluation_json(evaluation)).rfind("bad"));
  evaluation.verdict = tasks::Verdict::NotJudged;
  EXPECT_THAT(eval_text(evaluation_json(evaluation)),
              HasSubstr("verdict: compiles (nothing was run)\n"));
}

TEST(EvalReport, SaysThatASpeedupIsAgainstEager) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.cases = {timed_case(tasks::ShapeSet::Search, "n=1000")};
  evaluation.speedup = 3;
  evaluation.hidden_speedup = 2;
  nlohmann::json document = evaluation_json(evaluation);
  store::put_versus(document, tasks::kVersusEager);
  const std::string text = eval_text(document);
  EXPECT_THAT(text, HasSubstr("3.00x the speed of PyTorch eager, the geometric mean"));
  EXPECT_THAT(text, HasSubstr("hidden shapes: 2.00x the speed of PyTorch eager\n"));
  EXPECT_THAT(text, HasSubstr("  eager us  speedup"));
  EXPECT_THAT(text, HasSubstr("speedup: the time of PyTorch eager / the candidate's time"));
  EXPECT_THAT(text, Not(HasSubstr("baseline")));
}

TEST(EvalReport, SaysHowSureASpeedupIsAndWhatItIs) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.cases = {timed_case(tasks::ShapeSet::Search, "n=1000")};
  EXPECT_THAT(eval_text(evaluation_json(evaluation)), Not(HasSubstr("2.75-3.25")));
  evaluation.speedup = 3;
  evaluation.speedup_bounds = {2.8, 3.2};
  evaluation.cases[0].speedup_bounds = {2.75, 3.25};
  const std::string text = eval_text(evaluation_json(evaluation));
  EXPECT_THAT(text, HasSubstr("2.75-3.25"));
  EXPECT_THAT(text,
              HasSubstr("3.00x the speed of baseline.cu (95 %: 2.80-3.20), the geometric mean"));
  EXPECT_THAT(text, HasSubstr("not the quotient of the two medians"));
  evaluation.cases = {timed_case(tasks::ShapeSet::Promotion, "n=1021")};
  EXPECT_THAT(eval_text(evaluation_json(evaluation)), Not(HasSubstr("quotient")));
}

TEST(EvalReport, SaysWhichGpuAndWhichWorkerJudged) {
  tasks::Evaluation evaluation;
  evaluation.device = "cpu";
  evaluation.device_name = "Test CPU";
  EXPECT_THAT(eval_text(evaluation_json(evaluation)), HasSubstr("cpu on Test CPU, isolation"));
  evaluation.device_uuid = "GPU-1";
  evaluation.driver = "CUDA 13.0";
  evaluation.worker = "beta";
  EXPECT_THAT(eval_text(evaluation_json(evaluation)),
              HasSubstr("cpu on Test CPU, GPU-1, driver CUDA 13.0, worker beta, isolation"));
}

TEST(EvalReport, NamesTheLibrariesThatTheCandidateIsComparedWith) {
  tasks::Evaluation evaluation;
  evaluation.cases = {timed_case(tasks::ShapeSet::Search, "n=1000")};
  tasks::LibraryTiming library;
  library.name = "cublaslt";
  library.median_ns = 2000;
  library.agrees = true;
  tasks::LibraryTiming refused;
  refused.name = "other";
  refused.error = "not installed";
  tasks::LibraryTiming wrong = library;
  wrong.name = "third";
  wrong.agrees = false;
  wrong.error = "c(0) differs";
  evaluation.cases[0].libraries = {library, refused, wrong};
  const std::string text = eval_text(evaluation_json(evaluation));
  EXPECT_THAT(text, HasSubstr("cublaslt, n=1000: 2.00 us, the candidate takes 0.50x as long\n"));
  EXPECT_THAT(text, HasSubstr("other, n=1000: not compared: not installed\n"));
  EXPECT_THAT(text, HasSubstr("third, n=1000: not compared: c(0) differs\n"));
}

TEST(EvalReport, KeepsHiddenShapesHidden) {
  tasks::Evaluation evaluation;
  evaluation.cases = {timed_case(tasks::ShapeSet::Promotion, "n=1021")};
  const std::string text = eval_text(evaluation_json(evaluation));
  EXPECT_THAT(text, HasSubstr("(hidden)"));
  EXPECT_THAT(text, Not(HasSubstr("1021")));
  EXPECT_THAT(text, Not(HasSubstr("3.00")));
}

TEST(EvalReport, ShowsTheCompilersMessageOnce) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::CompileError;
  evaluation.build.log = "3: expected ';'";
  EXPECT_THAT(eval_text(evaluation_json(evaluation)), HasSubstr("3: expected ';'"));
  evaluation.detail = "does not compile: 3: expected ';'";
  const std::string text = eval_text(evaluation_json(evaluation));
  EXPECT_EQ(text.find("expected ';'"), text.rfind("expected ';'"));
}

TEST(Doctor, SaysWhyNotAndWhatToDo) {
  const std::vector<Examined> findings{
      {"device", "cpu", Availability::yes("2 cores")},
      {"device", "cuda", Availability::no("no libcuda.so.1", "install the driver")}};
  EXPECT_TRUE(any_device_usable(findings));
  const std::string text = doctor_text(findings);
  EXPECT_THAT(text, HasSubstr("2 cores"));
  EXPECT_THAT(text, HasSubstr("no libcuda.so.1"));
  EXPECT_THAT(text, HasSubstr("-> install the driver"));
  EXPECT_THAT(text, HasSubstr("ready: winnow run"));
  const nlohmann::json json = doctor_json(findings);
  EXPECT_EQ(json["schema"], "winnow.doctor");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["findings"][1]["remedy"], "install the driver");
}

TEST(Doctor, TellsUnderWhichFenceAContextOpens) {
  IsolationTable table;
  table.levels.push_back(
      {"landlock+seccomp",
       {{"fork without end", true, "EPERM"}},
       {{"cuda:0", Availability::no("cuInit fails with error 304", "look at the log")}}});
  table.levels.push_back({"rlimits",
                          {{"fork without end", false, "400 processes"}},
                          {{"cuda:0", Availability::yes("a context opens under rlimits")}}});
  const std::string text = to_string(table);
  EXPECT_THAT(text, testing::ContainsRegex("fork without end +stopped .EPERM. +POSSIBLE .400"));
  EXPECT_THAT(text, testing::ContainsRegex("context on cuda:0 +no .see below. +ok"));
  EXPECT_THAT(text, HasSubstr("cuda:0 under landlock+seccomp: cuInit fails with error 304\n"
                              "  -> look at the log\n"));
  EXPECT_THAT(to_string(IsolationTable{}), HasSubstr("no isolation level works here"));
}

TEST(Doctor, WithoutADeviceItIsNotReady) {
  const std::vector<Examined> findings{{"device", "cpu", Availability::no("no compiler", "")}};
  EXPECT_FALSE(any_device_usable(findings));
  EXPECT_THAT(doctor_text(findings), HasSubstr("not ready"));
}

TEST(RunReport, SaysHowToGoOn) {
  RunConfig config;
  config.store = "runs/my store.db";
  RunOutcome outcome;
  outcome.end = RunOutcome::End::Interrupted;
  EXPECT_THAT(run_summary(outcome, config, "quick"),
              HasSubstr("winnow resume quick --store 'runs/my store.db'"));
  outcome.end = RunOutcome::End::BudgetSpent;
  outcome.message = "limits.calls = 5 is spent";
  EXPECT_THAT(run_summary(outcome, config, "quick"), HasSubstr("limits.calls = 5 is spent"));
  outcome.end = RunOutcome::End::Finished;
  EXPECT_THAT(run_summary(outcome, config, "quick"), Not(HasSubstr("resume")));
  outcome.end = RunOutcome::End::Waiting;
  outcome.message = "waiting for 2 replies";
  EXPECT_THAT(run_summary(outcome, config, "quick"),
              HasSubstr("waiting for 2 replies\nwhen you have the replies, go on with: winnow "
                        "batch import REPLIES -o "
                        "REQUESTS --run quick --store 'runs/my store.db'\n"));
  outcome.end = RunOutcome::End::RecordingSpent;
  outcome.message = "the recording has no reply to 1 call";
  EXPECT_THAT(run_summary(outcome, config, "quick"),
              HasSubstr("stopped: the recording has no reply to 1 call\nto go on, ask a model: "
                        "winnow resume --model PROVIDER/MODEL quick --store"));
  outcome.end = RunOutcome::End::Failed;
  EXPECT_THAT(run_summary(outcome, config, "quick", "winnow again"),
              HasSubstr("winnow again quick --store 'runs/my store.db'\n"));
}

TEST(RunReport, SaysWhatIsNotPriced) {
  RunOutcome outcome;
  outcome.spend = {.calls = 3, .tokens = 10, .dollars = 0.5, .unpriced_calls = 1};
  EXPECT_THAT(run_summary(outcome, {}, "r"), HasSubstr("$0.5000 and 1 call of unknown price"));
  outcome.spend.unpriced_calls = 3;
  EXPECT_THAT(run_summary(outcome, {}, "r"), HasSubstr("price unknown"));
}

TEST(RunReport, CountsInWords) {
  RunOutcome outcome;
  outcome.elapsed = std::chrono::milliseconds(2100);
  EXPECT_THAT(run_summary(outcome, {}, "r"), HasSubstr("no calls; 2.1 s in all\n"))
      << "whether they have a price is not known before the first";
  outcome.spend = {.calls = 1, .tokens = 1, .unpriced_calls = 1};
  EXPECT_THAT(run_summary(outcome, {}, "r"), HasSubstr("1 call, 1 token, price unknown; "));
  outcome.spend.tokens = 0;
  EXPECT_THAT(run_summary(outcome, {}, "r"), HasSubstr("1 call, tokens unknown, price unknown; "))
      << "no call takes none";
}

TEST(RunReport, SaysThatNothingWasLeftToDo) {
  RunOutcome outcome;
  outcome.was_finished = true;
  outcome.spend = {.calls = 2, .tokens = 10, .dollars = 0.5};
  outcome.elapsed = std::chrono::seconds(121);
  EXPECT_THAT(
      run_summary(outcome, {}, "r"),
      testing::StartsWith("the run is already finished, nothing is left to do (2 calls, 10 tokens, "
                          "$0.5000 ($0.2500 a call); 2 min 01 s)\n"));
}

TEST(RunReport, SaysWhatOneCallCost) {
  RunOutcome outcome;
  outcome.spend = {.calls = 6, .calls_from_record = 2, .tokens = 10, .dollars = 0.5};
  EXPECT_THAT(
      run_summary(outcome, {}, "r"),
      HasSubstr("6 calls (2 of them from the record), 10 tokens, $0.5000 ($0.1250 a call); "));
}

TEST(RunReport, SaysWhatMayBeBilledOnTop) {
  RunOutcome outcome;
  EXPECT_THAT(run_summary(outcome, {}, "r"), Not(HasSubstr("estimated")));
  outcome.spend.unconfirmed = {3, 1200, 0.12};
  EXPECT_THAT(
      run_summary(outcome, {}, "r"),
      HasSubstr(
          "estimated, on top of what was measured: $0.1200 for 1200 tokens of 3 requests that "
          "the provider did not count (broken, cut off, or answered without counts)\n"));
  outcome.spend.unconfirmed = {1, 1200, 0};
  EXPECT_THAT(run_summary(outcome, {}, "r"),
              testing::AllOf(
                  testing::StartsWith("no answered calls; "),
                  HasSubstr("measured: 1200 tokens of 1 request that the provider did not count")));
  outcome.spend = {.tokens = 70, .dollars = 0.5};
  EXPECT_THAT(run_summary(outcome, {}, "r"),
              testing::StartsWith("no answered calls, 70 tokens, $0.5000; "))
      << "the provider counted a call that broke off";
}

TEST(RunReport, EachEndHasItsExitCode) {
  EXPECT_EQ(exit_code(RunOutcome::End::Finished), ExitCode::Done);
  EXPECT_EQ(to_int(exit_code(RunOutcome::End::BudgetSpent)), 5);
  EXPECT_EQ(to_int(exit_code(RunOutcome::End::RecordingSpent)), 5);
  EXPECT_EQ(to_int(exit_code(RunOutcome::End::Interrupted)), 130);
  EXPECT_EQ(to_int(exit_code(RunOutcome::End::Failed)), 1);
  EXPECT_EQ(to_int(exit_code(RunOutcome::End::Waiting)), 0);
}

TEST(ShellWord, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("runs/quick.db"), "runs/quick.db");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

} // namespace
} // namespace winnow::harness
