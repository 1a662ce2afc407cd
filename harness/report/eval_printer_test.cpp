#include "base/error.h"
#include "harness/report/eval_printer.h"
#include "harness/report/testing/report_fake.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Verdict;
using testing::ContainsRegex;

evaluators::EvaluationResult judged(Verdict verdict) {
  tasks::Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.detail = "two\nlines";
  evaluation.seed = ~std::uint64_t{0};
  return {"", "", {evaluation}, {}};
}

TEST(EvalPrinter, PrintsAsItGoesAndAllOfAnArray) {
  std::ostringstream out;
  EvalPrinter printer(out, "axpy", true, 2);
  printer.add("a.cu", "abc123", judged(Verdict::Correct));
  EXPECT_NE(out.str().find("a.cu"), std::string::npos);
  printer.add("b.cu", "abc123", judged(Verdict::Wrong));
  EXPECT_EQ(printer.finish(), ExitCode::NotCorrect);
  const json documents = json::parse(out.str());
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[1]["file"], "b.cu");
  EXPECT_EQ(out.str(), documents.dump(2) + "\n");
}

TEST(EvalPrinter, SaysWhatEveryVariantGot) {
  evaluators::EvaluationResult family{"", "", {timed_evaluation(10), timed_evaluation(20)}, {}};
  family.evaluations[0].parameters = {{"TILE", 32}};
  family.evaluations[1].parameters = {{"TILE", 16}};
  family.evaluations[1].verdict = Verdict::NotJudged;
  family.evaluations[1].stage = tasks::Stage::Time;
  family.evaluations[1].speedup = 1.25;
  std::ostringstream text, document;
  EvalPrinter(text, "axpy", false, 1).add("a.cu", "abc123", family);
  EXPECT_THAT(text.str(), ContainsRegex("variant +verdict +n=1000 +n=2000 +speedup +timing\n"
                                        "TILE=32 +correct +10.01 us +10.01 us +2.000x +full\n"
                                        "TILE=16 +right on shown shapes +20.02 us +20.02 us "
                                        "+1.250x +quick\n"));
  EvalPrinter(document, "axpy", true, 1).add("a.cu", "abc123", family);
  const json variants = json::parse(document.str())["variants"];
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[1]["parameters"]["TILE"], 16);
  EXPECT_EQ(variants[1]["timing"], "quick");
  EXPECT_DOUBLE_EQ(variants[1]["speedup"], 1.25);
  EXPECT_DOUBLE_EQ(variants[1]["times"][1]["median_ns"], 20'020);
}

TEST(EvalPrinter, WhatAnInterruptionLeavesIsAnArray) {
  std::ostringstream out;
  { EvalPrinter(out, "axpy", true, 2).add("a.cu", "abc123", judged(Verdict::Correct)); }
  EXPECT_EQ(json::parse(out.str()).size(), 1U);
}

TEST(EvalPrinter, OneFileIsNoArray) {
  std::ostringstream out;
  EvalPrinter printer(out, "axpy", true, 1);
  printer.add("a.cu", "abc123", judged(Verdict::Correct));
  EXPECT_EQ(printer.finish(), ExitCode::Done);
  const json document = json::parse(out.str());
  EXPECT_EQ(document["file"], "a.cu");
  EXPECT_EQ(document["task"], "axpy");
  EXPECT_EQ(document["digest"], "abc123");
  EXPECT_EQ(document["seed"], "18446744073709551615");
}

TEST(EvalPrinter, AFileThatWasNotJudgedIsAFailure) {
  const evaluators::EvaluationResult lost{"", "", {}, "no device is left"};
  std::ostringstream text, array;
  EvalPrinter for_people(text, "axpy", false, 2);
  EvalPrinter for_programs(array, "axpy", true, 2);
  for (EvalPrinter* printer : {&for_people, &for_programs}) {
    printer->add("a.cu", "abc123", lost);
    printer->add("b.cu", "abc123", judged(Verdict::Correct));
  }
  EXPECT_EQ(for_people.finish(), ExitCode::Failure);
  EXPECT_EQ(text.str().rfind("== a.cu\nnot judged: no device is left\n== b.cu\n", 0), 0U);
  EXPECT_THROW(for_programs.finish(), Error);
  EXPECT_EQ(json::parse(array.str()).size(), 1U);
}

} // namespace
} // namespace winnow::harness
