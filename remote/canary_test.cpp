#include "remote/canary.h"
#include "remote/testing/pool_fake.h"
#include "tasks/plan/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Canary, IsAKernelFileWithItsOwnId) {
  const evaluators::EvaluationRequest request = test::request_of("kernel");
  for (const CanaryKind kind : {CanaryKind::Wrong, CanaryKind::Timing}) {
    const auto canary = canary_like(request, kind, "cpu"),
               another = canary_like(request, kind, "cpu");
    ASSERT_TRUE(canary && another);
    EXPECT_TRUE(tasks::parse_kernel_file(canary->request.text, "k.cu").kernel_file);
    EXPECT_NE(canary->request.id, request.id);
    EXPECT_NE(canary->request.id, another->request.id);
    EXPECT_EQ(canary->is_wrong, kind == CanaryKind::Wrong);
  }
  auto task = std::make_shared<tasks::Task>(*request.task);
  task->baseline.clear();
  evaluators::EvaluationRequest without = request;
  without.task = task;
  EXPECT_FALSE(canary_like(without, CanaryKind::Wrong, "cpu"));
}

TEST(Canary, IsMadeOfTheBaselineOfTheWorkersDevice) {
  evaluators::EvaluationRequest request = test::request_of("kernel");
  auto task = std::make_shared<tasks::Task>(*request.task);
  task->cpu_baseline = "// for the CPU";
  request.task = task;
  const auto text_on = [&](const char* kind) {
    return canary_like(request, CanaryKind::Timing, kind)->request.text;
  };
  EXPECT_THAT(text_on("cpu"), testing::StartsWith("// for the CPU"));
  EXPECT_THAT(text_on("cuda"), testing::StartsWith(task->baseline));
}

TEST(Canary, KnowsItsAnswer) {
  tasks::Evaluation answer;
  answer.verdict = tasks::Verdict::Correct;
  answer.speedup = 1.02;
  answer.speedup_bounds = {0.98, 1.06};
  EXPECT_TRUE(fault_in({{}, true}, answer).lies);
  EXPECT_EQ(fault_in({{}, false}, answer).what, "");
  answer.speedup = 2;
  answer.speedup_bounds = {1.9, 2.1};
  EXPECT_THAT(fault_in({{}, false}, answer).what,
              HasSubstr("the speedup 2 of the task's baseline"));
  answer.device = "cpu";
  EXPECT_NE(fault_in({{}, false}, answer).what, "");
  answer.speedup = 1.4;
  answer.speedup_bounds = {1.35, 1.45};
  EXPECT_EQ(fault_in({{}, false}, answer).what, "") << "other programs may disturb a CPU";
  answer.speedup_bounds = {};
  answer.speedup = 0.3; // as measured on two cores with twenty busy programs
  EXPECT_EQ(fault_in({{}, false}, answer).what, "") << "few samples on a CPU";
  answer.speedup = 5;
  EXPECT_NE(fault_in({{}, false}, answer).what, "");
  answer.device = "cuda";
  EXPECT_NE(fault_in({{}, false}, answer).what, "");
  answer.verdict = tasks::Verdict::UnwrittenOutput;
  EXPECT_EQ(fault_in({{}, true}, answer).what, "");
  EXPECT_THAT(fault_in({{}, false}, answer).what, HasSubstr("'unwritten_output'"));
  EXPECT_FALSE(fault_in({{}, false}, answer).lies) << "a machine may be broken or loaded";
}

} // namespace
} // namespace winnow::remote
