#include "search/arms.h"

#include <cmath>

#include <gtest/gtest.h>

namespace winnow::search {
namespace {

const std::vector<std::string> kBoth{"rewrite", "diff"};

TEST(Arms, BeginWithTheirPriors) {
  const Arms arms({{"rewrite", 0.3}, {"diff", 0.6}});
  EXPECT_EQ(arms.choose(kBoth), "diff");
  EXPECT_EQ(arms.choose({}), "");
}

TEST(Arms, OneThatGainsIsPreferred) {
  Arms arms({{"rewrite", 0.5}, {"diff", 0.5}});
  for (int i = 0; i < 4; ++i) {
    arms.begin("rewrite");
    arms.end("rewrite", 0.3, 0.01, 1);
    arms.begin("diff");
    arms.end("diff", 0, 0.01, 1);
  }
  EXPECT_EQ(arms.choose({"diff", "rewrite"}), "rewrite");
}

TEST(Arms, CallsUnderWaySpread) {
  Arms arms({{"rewrite", 0.5}, {"diff", 0.5}});
  arms.begin("rewrite");
  EXPECT_EQ(arms.choose(kBoth), "diff");
  arms.begin("diff");
  EXPECT_EQ(arms.choose(kBoth), "rewrite");
}

TEST(Arms, OneThatGainsNothingIsTriedAgainAfterALongTime) {
  Arms arms({{"rewrite", 0.5}, {"diff", 0.5}});
  arms.begin("diff");
  arms.end("diff", 0, 0, 0);
  int others = 0;
  while (arms.choose({"rewrite", "diff"}) == "rewrite" && others < 1000) {
    arms.begin("rewrite");
    arms.end("rewrite", others < 3 ? 0.2 : 0, 0, 0);
    ++others;
  }
  EXPECT_GT(others, 3);
  EXPECT_LT(others, 100);
}

TEST(Arms, ADearArmHasToGainMore) {
  Arms arms({{"rewrite", 0.5}, {"diff", 0.5}});
  for (int i = 0; i < 3; ++i) {
    arms.begin("rewrite");
    arms.end("rewrite", 0.12, 1.00, 1);
    arms.begin("diff");
    arms.end("diff", 0.1, 0.10, 1);
  }
  EXPECT_EQ(arms.choose(kBoth), "diff") << "a tenth of the dollars";
  EXPECT_GT(arms.index("diff"), arms.index("rewrite"));
}

TEST(Arms, ShareTheirOperatorsPrior) {
  const Arms arms({{"rewrite", 0.3}, {"diff", 0.6}});
  EXPECT_EQ(arms.choose({"rewrite@dear", "diff@dear", "rewrite@cheap"}), "diff@dear");
}

TEST(Arms, PromiseWhatTheyHaveGainedAndALittleMore) {
  Arms arms({});
  for (int i = 0; i < 20; ++i) {
    arms.begin("diff");
    arms.end("diff", std::log(2), 0.1, 1);
  }
  EXPECT_GT(arms.expected_doublings("diff"), 1);
  EXPECT_LT(arms.expected_doublings("diff"), 1.1);
  const double promised = arms.expected_doublings("diff");
  arms.begin("diff");
  EXPECT_EQ(arms.expected_doublings("diff"), promised) << "a call under way changes nothing";
}

TEST(Arms, OneThatWasNotTriedHasThePriceOfItsModel) {
  Arms arms({});
  EXPECT_EQ(arms.price_of("diff@dear"), 0);
  arms.end("seed@dear", 0, 3, 0);
  arms.end("seed@cheap", 0, 1, 0);
  EXPECT_EQ(arms.price_of("diff@dear"), 3);
  EXPECT_EQ(arms.price_of("diff@cheap"), 1);
  EXPECT_EQ(arms.price_of("diff@new"), 2) << "the mean of all";
  arms.end("diff@dear", 0, 5, 0);
  EXPECT_EQ(arms.price_of("diff@dear"), 5);
}

} // namespace
} // namespace winnow::search
