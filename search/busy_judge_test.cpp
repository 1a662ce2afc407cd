// What an archive search does while replies wait for their verdicts.
#include "search/testing/preset_search_fixture.h"

#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using test::fast;

class BusyJudgeTest : public test::PresetSearchTest {
protected:
  BusyJudgeTest() { begin_with_seeds({.proposals = 60}); }

  void begin_with_seeds(const Settings& settings) {
    begin(preset("archive").policy, settings);
    for (const Ask& seed : asks(3)) {
      answer(seed, fast(2));
    }
  }

  /// Calls that a model answers at once, until the search waits for a verdict. All replies are with
  /// the judge.
  int calls_that_need_no_verdict() {
    int calls = 0;
    while (!waits()) {
      reply(ask());
      const auto evaluate = search_->decide({});
      apply(Decided{evaluate.value(), {}});
      judging_.push_back(last_);
      ++calls;
    }
    return calls;
  }

  void oldest_verdict(const Outcome& outcome) {
    apply(Evaluated{judging_.front(), outcome});
    judging_.erase(judging_.begin());
  }

  std::vector<CandidateId> judging_;
};

TEST_F(BusyJudgeTest, IsNotOutrunByAModelThatAnswersAtOnce) {
  capacity_ = {4};
  EXPECT_EQ(calls_that_need_no_verdict(), 5) << "one more than calls may be under way";
  oldest_verdict(fast(2.1));
  EXPECT_EQ(calls_that_need_no_verdict(), 1);
}

TEST_F(BusyJudgeTest, HasAReplyForEachOfManyDevices) {
  capacity_ = {16};
  EXPECT_EQ(calls_that_need_no_verdict(), 17);
}

TEST_F(BusyJudgeTest, PatienceIsNotOverrunByMoreThanTheRepliesThatWait) {
  begin_with_seeds({.proposals = 60, .patience = 5});
  capacity_ = {1};
  while (calls_that_need_no_verdict() > 0) {
    oldest_verdict(fast(1.9));
  }
  EXPECT_EQ(search_->why_done(), "the last 5 calls gained nothing");
  EXPECT_LE(search_->asks(), 3U + 5U + 1U);
  replay();
}

} // namespace
} // namespace winnow::search
