#include "search/arms.h"

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

} // namespace
} // namespace winnow::search
