#include "tasks/result/fitted.h"

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

Evaluation at_promotion(double speedup, const std::string& why_not = "", double median_ns = 30e3) {
  Evaluation evaluation;
  evaluation.device = "cuda";
  evaluation.speedup = 10;
  for (const auto& [set, times] : {std::pair(ShapeSet::Search, 1.0),
                                   {ShapeSet::Promotion, 6.0},
                                   {ShapeSet::Promotion, speedup}}) {
    CaseResult& timed = evaluation.cases.emplace_back();
    timed.set = set;
    timed.speedup = times;
    timed.median_ns = median_ns;
  }
  evaluation.cases.back().detail = why_not;
  return evaluation;
}

TEST(Fitted, IsWhoLosesHalfOfItsSpeedAtAHiddenShape) {
  EXPECT_TRUE(is_fitted(at_promotion(4.9)));
  EXPECT_FALSE(is_fitted(at_promotion(5.1)));
}

TEST(Fitted, NeedsAShapeWhoseSpeedCounts) {
  EXPECT_FALSE(is_fitted(at_promotion(2, "correctness only: baseline.cu 5.4 us < 20 us")));
  EXPECT_FALSE(is_fitted(at_promotion(2, "", 8e3))) << "the kernel is too short there";
  EXPECT_FALSE(is_fitted(at_promotion(0))) << "not timed";
  EXPECT_FALSE(is_fitted({}));
}

} // namespace
} // namespace winnow::tasks
