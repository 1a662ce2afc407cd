// Checks that docs/schemas list every field of every document.
#include "agents/record/recording.h"
#include "harness/baseline/torch_baseline.h"
#include "harness/brief/brief.h"
#include "harness/doctor/doctor.h"
#include "harness/report/eval_printer.h"
#include "harness/report/kernel_pair_report.h"
#include "harness/report/task_report.h"
#include "harness/report/testing/report_fake.h"
#include "harness/report/tuning_report.h"
#include "harness/selftest/selftest_report.h"
#include "tasks/catalogue.h"
#include "tests/support/json_page.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::IsEmpty;

std::vector<std::string> missing(const json& document) {
  static const ::winnow::test::JsonPage page(WINNOW_SOURCE_DIR);
  return page.missing(document);
}

/// An evaluation with every optional part.
tasks::Evaluation full_evaluation() {
  tasks::Evaluation evaluation = timed_evaluation(10, 1.25);
  evaluation.parameters = {{"BLOCK", 128}};
  evaluation.race = tasks::RaceResult{};
  evaluation.build.kernels = {tasks::KernelResources{}};
  evaluation.build.findings = {tasks::Finding{}};
  evaluation.cases[0].mismatch = tasks::Mismatch{};
  evaluation.cases[0].libraries = {tasks::LibraryTiming{}};
  add_profiles(evaluation, {full_profile("1", 92), full_profile("2", 71)});
  return evaluation;
}

tasks::Task small_task() {
  return tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks" / "catalogue", "axpy");
}

TEST(JsonDocumentation, ListsEveryFieldOfEval) {
  std::ostringstream out;
  EvalPrinter printer(out, small_task(), {true}, 1, tasks::kVersusEager);
  printer.add("a.cu", "abc", {"", "", {full_evaluation()}, ""}, "FFMA R0, R1, R2, R3");
  EXPECT_THAT(missing(json::parse(out.str())), IsEmpty());
}

TEST(JsonDocumentation, ListsEveryFieldOfABrief) {
  BriefFacts facts{"axpy", std::string(kBriefBytes, 'x'), "abc", "baseline.cu"};
  facts.light = {0.5, {{"n=1000", 0.5}}};
  tasks::Evaluation evaluation = full_evaluation();
  evaluation.cases.resize(100, evaluation.cases.front()); // so that "more" is there
  EXPECT_THAT(missing(fitted_brief(brief_json(facts, evaluation))), IsEmpty());
  EXPECT_THAT(missing(brief_json(facts, std::string("the device was lost"))), IsEmpty());
}

TEST(JsonDocumentation, ListsEveryFieldOfRaceAndProfile) {
  const tasks::Evaluation evaluation = full_evaluation();
  const JudgedKernel kernel{"a.cu", "a", evaluation};
  KernelPair pair{"axpy", kernel, kernel, "PyTorch eager"};
  EXPECT_THAT(missing(race_json(pair)), IsEmpty());
  EXPECT_THAT(missing(profile_json(pair)), IsEmpty());
  pair.kernel.evaluation.verdict = tasks::Verdict::Wrong;
  EXPECT_THAT(missing(race_json(pair)), IsEmpty());
}

TEST(JsonDocumentation, ListsEveryFieldOfTune) {
  TuningReport report{"axpy", "a.cu", "abc", {"n=1"}, {}, 0.5, "a.tuned.cu", "", "PyTorch eager"};
  report.family.of_default = full_evaluation();
  report.family.trials = {{{{"BLOCK", 128}}, tasks::Verdict::NotJudged, "", {1}},
                          {{{"BLOCK", 256}}, tasks::Verdict::NotJudged, "", {1.5}},
                          {{{"BLOCK", 512}}, tasks::Verdict::OverLimit}};
  report.family.of_winner = full_evaluation();
  EXPECT_THAT(missing(tuning_json(report)), IsEmpty());
}

TEST(JsonDocumentation, ListsEveryFieldOfTasks) {
  const tasks::Task task = small_task();
  EXPECT_THAT(missing(task_json(task)), IsEmpty());
  tasks::Task of_module = task;
  of_module.torch = tasks::TorchReference{};
  of_module.baseline.clear();
  EXPECT_THAT(missing(task_json(of_module)), IsEmpty());
  EXPECT_THAT(missing(task_list_json({task})), IsEmpty());
  EXPECT_THAT(missing(doctor_json({{"device", "cpu", Availability::yes("2 cores")}})), IsEmpty());
}

TEST(JsonDocumentation, ListsEveryFieldOfSelftestAndBaselines) {
  TaskSelftest selftest;
  selftest.mutants.emplace_back();
  selftest.narrowed.emplace_back();
  selftest.honest.emplace_back().parameters = {{"BLOCK", 128}};
  selftest.honest.back().measured.emplace_back();
  selftest.wrong = selftest.honest;
  EXPECT_THAT(missing(json::parse(to_json_text(SelftestReport{"cpu", "a cpu", 17, {selftest}}))),
              IsEmpty());
  TorchBaseline baseline;
  baseline.timings.emplace_back();
  EXPECT_THAT(missing(torch_json(small_task(), baseline)), IsEmpty());
}

TEST(JsonDocumentation, ListsEveryFieldOfARecordedCall) {
  agents::RecordedCall call;
  call.reply.attempts = 2;
  call.reply.repaired = true;
  call.reply.error = "cut off";
  call.reply.request_id = "r";
  call.reply.first_token_seconds = 1;
  call.reply.dollars = 1;
  call.reply.price = agents::Price{};
  EXPECT_THAT(missing(json::parse(agents::encode_call(call))), IsEmpty());
}

} // namespace
} // namespace winnow::harness
