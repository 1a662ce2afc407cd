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

tasks::Task axpy() {
  tasks::Task task;
  task.name = "axpy";
  return task;
}

TEST(EvalPrinter, PrintsAsItGoesAndAllOfAnArray) {
  std::ostringstream out;
  EvalPrinter printer(out, axpy(), {true}, 2);
  printer.add("a.cu", "abc123", judged(Verdict::Correct));
  EXPECT_NE(out.str().find("a.cu"), std::string::npos);
  printer.add("b.cu", "abc123", judged(Verdict::Wrong));
  EXPECT_EQ(printer.finish(), ExitCode::NotCorrect);
  const json documents = json::parse(out.str());
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[1]["file"], "b.cu");
  EXPECT_EQ(out.str(), documents.dump(2) + "\n");
}

TEST(EvalPrinter, WhatAnInterruptionLeavesIsAnArray) {
  std::ostringstream out;
  { EvalPrinter(out, axpy(), {true}, 2).add("a.cu", "abc123", judged(Verdict::Correct)); }
  EXPECT_EQ(json::parse(out.str()).size(), 1U);
}

TEST(EvalPrinter, OneFileIsNoArray) {
  std::ostringstream out;
  EvalPrinter printer(out, axpy(), {true}, 1);
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
  EvalPrinter for_people(text, axpy(), {}, 2);
  EvalPrinter for_programs(array, axpy(), {true}, 2);
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
