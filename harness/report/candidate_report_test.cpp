#include "harness/report/candidate_report.h"
#include "harness/report/testing/report_fake.h"
#include "tests/support/json_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSource =
    "/*@winnow\n{\"params\": {\"BLOCK\": [128]}, \"launches\": []}\n@*/\n"
    "__global__ void axpy() {}\n";

/// A candidate with every optional part and a hidden case.
store::CandidateRecord sample_record() {
  store::CandidateRecord record;
  store::CandidateRow& row = record.state.row;
  row.id = 43;
  row.task = "axpy";
  row.call_key = "axpy/0/1";
  row.origin = "model";
  row.model = row.author = "some\x1b[31mmodel";
  row.text = kSource;
  row.digest = "68105b4c00";
  row.dollars = 0.25;
  record.state.best = timed_evaluation(10);
  record.state.best->parameters = {{"BLOCK", 128}};
  record.state.best->build.kernels = {{"axpy", 32, 8, 16, 24, 1024}};
  record.state.best->build.findings = {{tasks::FindingKind::MutableGlobal, "counter (4 bytes)"}};
  add_profiles(*record.state.best, {full_profile("1", 92)});
  tasks::CaseResult hidden = record.state.best->cases.front();
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.stage = tasks::Stage::Promotion;
  hidden.shape = "n=123457";
  record.state.best->cases.push_back(hidden);
  record.state.reply = "Here is the kernel.";
  record.run_name = "first";
  record.parents = {5, 6};
  record.op = "crossover";
  record.prompt_tokens = 7;
  record.messages = {{"system", "Rules"}, {"user", "Task"}};
  tasks::SittingRow& final = record.final.emplace();
  final.rank = 2;
  final.speedup = 1.9;
  final.speedup_bounds = {1.8, 2.0};
  final.score_ns = 5000;
  final.held_out_speedup = 1.7;
  return record;
}

TEST(CandidateReport, ShowsWhoWroteTheKernelAndItsVerdict) {
  const std::string text = candidate_text(candidate_json(sample_record(), {}));
  for (const char* part :
       {"candidate 43, file 68105b4c", "task: axpy", "run: first", "operator: crossover",
        "parents: @5, @6", "final: rank 2, 1.90x (95 %: 1.80-2.00), held-out 1.70x",
        "\nwhen judged (another measurement than the final, at another time):\n", "n=1000",
        "verdict: correct", "BLOCK=128", "registers", "counter (4 bytes)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(CandidateReport, HidesHiddenShapesAndThePromptUnlessItIsAskedFor) {
  const json document = candidate_json(sample_record(), {});
  EXPECT_THAT(document.dump(), AllOf(Not(HasSubstr("123457")), Not(HasSubstr("Here is"))));
  EXPECT_TRUE(document.at("messages").is_null());
  EXPECT_THAT(candidate_text(document) + samples_text(document), Not(HasSubstr("123457")));
  const json with_parts = candidate_json(sample_record(), {.prompt = true, .reply = true});
  EXPECT_EQ(with_parts.at("reply"), "Here is the kernel.");
  EXPECT_EQ(prompt_text(with_parts), "---- system ----\nRules\n\n---- user ----\nTask\n");
}

TEST(CandidateReport, HasThePlanAndTheSamples) {
  const json document = candidate_json(sample_record(), {});
  EXPECT_EQ(document.at("plan"), "{\"params\": {\"BLOCK\": [128]}, \"launches\": []}");
  EXPECT_EQ(plan_text("a reply without a plan"), "");
  EXPECT_EQ(plan_text("/*@winnow {"), "");
  EXPECT_THAT(samples_text(document), HasSubstr("\nsearch/1\tn=1000\tcandidate\t0\t10000"));
  EXPECT_THAT(samples_text(document), HasSubstr("\nsearch/2\tn=2000\tbaseline\t19\t"));
}

TEST(CandidateReport, OfACandidateWithoutAnEvaluation) {
  store::CandidateRecord record;
  record.state.row.id = 1;
  record.state.row.origin = "person";
  record.run_name = record.state.row.author = "alice";
  record.task_note = "old: the task has changed";
  record.state.row.text = "\xff no kernel";
  const json document = candidate_json(record, {});
  EXPECT_THAT(candidate_text(document), HasSubstr("by: alice\n"));
  EXPECT_THAT(candidate_text(document), HasSubstr("its revision: old: the task has changed\n"));
  EXPECT_THAT(candidate_text(document), HasSubstr("not judged yet"));
  EXPECT_THAT(diff_text(diff_json(document, document), ""),
              HasSubstr("the kernel files are equal"));
}

TEST(DiffReport, ComparesTwoCandidates) {
  store::CandidateRecord other = sample_record();
  other.state.row.id = 44;
  other.state.row.text = std::string(kSource).replace(std::string(kSource).find("128"), 3, "256");
  other.state.best = timed_evaluation(5);
  other.state.best->parameters = {{"BLOCK", 256}};
  other.state.best->build.kernels = {{"axpy", 40, 8, 16, 24, 1024}};
  const json document = diff_json(candidate_json(sample_record(), {}), candidate_json(other, {}));
  EXPECT_EQ(document.at("parameters"),
            json::parse(R"([{"parameter": "BLOCK", "a": 128, "b": 256}])"));
  EXPECT_EQ(document.at("plan"),
            json::parse(R"([{"path": "params/BLOCK/0", "a": 128, "b": 256}])"));
  EXPECT_EQ(document.at("resources"),
            json::parse(R"([{"kernel": "axpy", "resource": "registers", "a": 32, "b": 40}])"));
  ASSERT_EQ(document.at("shapes").size(), 2U);
  EXPECT_EQ(document.at("shapes")[0].at("shape"), "n=1000");
  EXPECT_GT(document.at("shapes")[0].at("a_median_ns"), document.at("shapes")[0].at("b_median_ns"));
  EXPECT_FALSE(document.at("counters").empty());
  EXPECT_EQ(document.at("source")[2], "-{\"params\": {\"BLOCK\": [128]}, \"launches\": []}");
  EXPECT_THAT(diff_text(document, "winnow race axpy @43 @44"),
              HasSubstr("`winnow race axpy @43 @44`"));
  EXPECT_THAT(document.dump(), Not(HasSubstr("123457")));
  other.state.best->verdict = tasks::Verdict::Wrong;
  EXPECT_THAT(diff_text(diff_json(candidate_json(sample_record(), {}), candidate_json(other, {})),
                        "winnow race axpy @43 @44"),
              Not(HasSubstr("winnow race")))
      << "a wrong kernel cannot race";
}

TEST(DiffReport, WarnsOfTimesFromTwoGpus) {
  const auto on = [](const std::string& uuid) {
    store::CandidateRecord record = sample_record();
    record.state.best->device_uuid = uuid;
    return candidate_json(record, {});
  };
  const std::string warning = "different GPUs of one model";
  EXPECT_THAT(diff_text(diff_json(on("GPU-1"), on("GPU-2")), ""), HasSubstr(warning));
  EXPECT_THAT(diff_text(diff_json(on("GPU-1"), on("GPU-1")), ""), Not(HasSubstr(warning)));
  EXPECT_THAT(diff_text(diff_json(on(""), on("GPU-1")), ""), Not(HasSubstr(warning)));
}

TEST(JsonDocumentation, ListsEveryFieldOfShowAndDiff) {
  const ::winnow::test::JsonPage page(WINNOW_SOURCE_DIR);
  const json document = candidate_json(sample_record(), {.prompt = true, .reply = true});
  EXPECT_THAT(page.missing(document), IsEmpty());
  json other = document;
  other["evaluation"]["parameters"]["BLOCK"] = 256;
  other["evaluation"]["build"]["kernels"][0]["registers"] = 33;
  other["plan"] = "{}";
  EXPECT_THAT(page.missing(diff_json(document, other)), IsEmpty());
}

} // namespace
} // namespace winnow::harness
