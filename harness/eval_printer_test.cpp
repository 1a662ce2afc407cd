#include "base/error.h"
#include "harness/eval_printer.h"
#include "harness/ordered_results.h"

#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Verdict;

JudgeResult judged(std::int64_t candidate, Verdict verdict) {
  tasks::Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.detail = "two\nlines";
  return {candidate, {evaluation}, {}};
}

TEST(OrderedResults, WaitForTheNextOne) {
  OrderedResults results;
  std::thread judges([&] {
    for (const std::int64_t candidate : {2, 0, 3, 1}) {
      results.put(judged(candidate, Verdict::Correct));
    }
  });
  for (std::int64_t candidate = 0; candidate < 4; ++candidate) {
    EXPECT_EQ(results.next().value().candidate, candidate);
  }
  judges.join();
}

TEST(OrderedResults, EndWithAnInterruption) {
  OrderedResults results;
  std::thread user([&] { results.interrupt(); });
  EXPECT_FALSE(results.next());
  user.join();
  results.put(judged(0, Verdict::Correct));
  EXPECT_FALSE(results.next());
}

TEST(EvalPrinter, PrintsAsItGoesAndAllOfAnArray) {
  std::ostringstream out;
  EvalPrinter printer(out, true, 2);
  printer.add("a.cu", judged(0, Verdict::Correct));
  EXPECT_NE(out.str().find("a.cu"), std::string::npos);
  printer.add("b.cu", judged(1, Verdict::Wrong));
  EXPECT_EQ(printer.finish(), ExitCode::NotCorrect);
  const json documents = json::parse(out.str());
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[1]["file"], "b.cu");
  EXPECT_EQ(out.str(), documents.dump(2) + "\n");
}

TEST(EvalPrinter, WhatAnInterruptionLeavesIsAnArray) {
  std::ostringstream out;
  { EvalPrinter(out, true, 2).add("a.cu", judged(0, Verdict::Correct)); }
  EXPECT_EQ(json::parse(out.str()).size(), 1U);
}

TEST(EvalPrinter, OneFileIsNoArray) {
  std::ostringstream out;
  EvalPrinter printer(out, true, 1);
  printer.add("a.cu", judged(0, Verdict::Correct));
  EXPECT_EQ(printer.finish(), ExitCode::Done);
  EXPECT_EQ(json::parse(out.str())["file"], "a.cu");
}

TEST(EvalPrinter, AFileThatWasNotJudgedIsAFailure) {
  const JudgeResult lost{0, {}, "no device is left"};
  std::ostringstream text, array;
  EvalPrinter for_people(text, false, 2);
  EvalPrinter for_programs(array, true, 2);
  for (EvalPrinter* printer : {&for_people, &for_programs}) {
    printer->add("a.cu", lost);
    printer->add("b.cu", judged(1, Verdict::Correct));
  }
  EXPECT_EQ(for_people.finish(), ExitCode::Failure);
  EXPECT_EQ(text.str().rfind("== a.cu\nnot judged: no device is left\n== b.cu\n", 0), 0U);
  EXPECT_THROW(for_programs.finish(), Error);
  EXPECT_EQ(json::parse(array.str()).size(), 1U);
}

} // namespace
} // namespace winnow::harness
