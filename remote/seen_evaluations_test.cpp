#include "remote/evaluation_check.h"
#include "remote/testing/pool_fake.h"

#include <algorithm>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

TEST(SeenEvaluations, OneOfManyEqualResultsCountsWhenTheyComeAtOnce) {
  constexpr std::size_t kThreads = 8;
  const auto request = test::request_of("any kernel");
  for (int again = 0; again < 20; ++again) {
    const std::vector<tasks::Evaluation> result = test::judge_correct(request, {});
    SeenEvaluations seen;
    std::latch start(kThreads);
    std::vector<std::string> found(kThreads);
    {
      std::vector<std::jthread> threads;
      for (std::string& repetition : found) {
        threads.emplace_back([&] {
          start.arrive_and_wait();
          repetition = seen.add_or_repetition(request, result);
        });
      }
    }
    EXPECT_EQ(std::count(found.begin(), found.end(), ""), 1);
  }
}

TEST(SeenEvaluations, AResultThatRepeatsAnotherIsNotKept) {
  const auto request = test::request_of("any kernel");
  const auto first = test::judge_correct(request, {}), second = test::judge_correct(request, {});
  SeenEvaluations seen;
  EXPECT_EQ(seen.add_or_repetition(request, first), "");
  EXPECT_EQ(seen.add_or_repetition(request, {second.front(), first.front()}),
            "the seed of an earlier evaluation");
  EXPECT_EQ(seen.add_or_repetition(request, second), "");
}

} // namespace
} // namespace winnow::remote
