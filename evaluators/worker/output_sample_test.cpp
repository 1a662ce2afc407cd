#include "evaluators/worker/output_sample.h"

#include <set>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kOutputElements = 50'000'017;

TEST(OutputSample, SmallOutputsAreJudgedWhole) {
  const auto pieces = drawn_pieces(2 << 20, 4, 1);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].first, 0U);
  EXPECT_EQ(pieces[0].count, 2U << 20);
  EXPECT_EQ(drawn_bytes(2 << 20, 4), 8U << 20);
}

TEST(OutputSample, EachSixteenthOfALargeOutputHasAPiece) {
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    const auto pieces = drawn_pieces(kOutputElements, 4, draw);
    ASSERT_EQ(pieces.size(), 16U);
    for (std::uint64_t i = 0; i < pieces.size(); ++i) {
      EXPECT_GE(pieces[i].first + 8, i * kOutputElements / 16);
      EXPECT_LE(pieces[i].first + pieces[i].count, (i + 1) * kOutputElements / 16);
    }
  }
  EXPECT_EQ(drawn_bytes(kOutputElements, 4), 4U << 20);
}

TEST(OutputSample, NobodyKnowsWherePiecesLie) {
  std::set<std::uint64_t> places;
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    places.insert(drawn_pieces(kOutputElements, 4, draw)[7].first);
    EXPECT_EQ(drawn_pieces(kOutputElements, 4, draw)[7].first,
              drawn_pieces(kOutputElements, 4, draw)[7].first);
  }
  EXPECT_GT(places.size(), 95U);
}

TEST(OutputSample, PiecesOverlapInNoTypeAndBeginAtWholeWords) {
  for (const std::uint64_t bytes : {1U, 2U, 4U, 8U}) {
    const std::uint64_t count = (8U << 20) / bytes + 1;
    std::uint64_t end = 0;
    for (const Piece& piece : drawn_pieces(count, bytes, 3)) {
      EXPECT_EQ(piece.first % 8, 0U);
      EXPECT_GE(piece.first, end);
      end = piece.first + piece.count;
    }
    EXPECT_LE(end, count);
  }
}

} // namespace
} // namespace winnow::evaluators
