#include "harness/brief/brief.h"
#include "harness/report/testing/report_fake.h"
#include "harness/report/variants_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using testing::HasSubstr;

nlohmann::json brief(const std::string& file, const tasks::Evaluation& evaluation) {
  return brief_json({"axpy", file, "", "baseline.cu", false, {0.5, {}}}, evaluation);
}

TEST(VariantsTable, HasTheBestFirstAndWhyTheOthersFail) {
  tasks::Evaluation slow = timed_evaluation(20);
  slow.speedup = 1;
  slow.speedup_bounds = {0.9, 1.1};
  slow.promoted = false;
  tasks::Evaluation wrong;
  wrong.verdict = tasks::Verdict::Wrong;
  wrong.stage = tasks::Stage::Tiny;
  wrong.detail = "y[3] = 1, expected 2\nand more";
  tasks::Evaluation unseen = wrong;
  unseen.verdict = tasks::Verdict::WrongUnseen;
  VariantsTable table;
  table.add(brief("wrong.cu", wrong));
  table.add(brief("slow.cu", slow));
  table.add(brief("unseen.cu", unseen));
  table.add(brief("fast.cu", timed_evaluation(10)));
  const std::string text = table.text();
  EXPECT_THAT(text, testing::StartsWith("file "));
  EXPECT_LT(text.find("fast.cu"), text.find("slow.cu"));
  EXPECT_LT(text.find("slow.cu"), text.find("wrong.cu"));
  EXPECT_THAT(text, HasSubstr("n=1000 us"));
  EXPECT_THAT(text, HasSubstr("2.00x       1.98-2.02            50 %"));
  EXPECT_THAT(text, HasSubstr("correct, not promoted"));
  EXPECT_THAT(text, HasSubstr("\nwrong.cu: wrong: y[3] = 1, expected 2\n"));
  EXPECT_THAT(text, HasSubstr("\nunseen.cu: wrong_unseen: "));
  EXPECT_EQ(text.find("and more"), std::string::npos);
}

TEST(VariantsTable, HasOneLineForStepsAndOneForWhatWasTried) {
  tasks::Evaluation evaluation = timed_evaluation(10);
  evaluation.speedup_bounds = {1.5, 2.5};
  evaluators::ProfiledShape profiled;
  profiled.shape.shape = "n=1000";
  profiled.steps = {{"scan", 1, 4100}, {"merge", 2, 2000}};
  evaluation.profile = nlohmann::json{profiled}.dump();
  BriefFacts facts{"axpy", "a.cu", "", "baseline.cu"};
  facts.tried = {{{{"BLOCK", 64}}, tasks::Verdict::NotJudged, "", {1}},
                 {{{"BLOCK", 128}}, tasks::Verdict::NotJudged, "", {1.5}},
                 {{{"BLOCK", 4096}}, tasks::Verdict::LaunchError}};
  VariantsTable table;
  table.add(brief_json(facts, evaluation));
  const std::string text = table.text();
  EXPECT_THAT(text, HasSubstr("1.50-2.50 wide"));
  EXPECT_THAT(text, HasSubstr("\na.cu: steps at n=1000: scan 4.10 us, merge 2.00 us (2 times)\n"));
  EXPECT_THAT(
      text, HasSubstr("\na.cu: tried BLOCK=128 1.50x, BLOCK=64 1.00x, BLOCK=4096 launch_error\n"));
  EXPECT_THAT(text, testing::EndsWith("\nwide: more than 3 % to a side; `winnow race` tells "
                                      "kernels of similar speeds apart\n"));
}

TEST(VariantsTable, CodeThatOnlyCompilesIsNoFailure) {
  tasks::Evaluation compiled;
  compiled.stage = tasks::Stage::Compile;
  VariantsTable table;
  table.add(brief("a.cu", compiled));
  EXPECT_THAT(table.text(), HasSubstr("a.cu  compiles"));
  EXPECT_EQ(table.text().find("a.cu:"), std::string::npos);
}

} // namespace
} // namespace winnow::harness
