#include "evaluators/messages/output_sample.h"

#include <algorithm>
#include <map>
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
  EXPECT_EQ(drawn_bytes(kOutputElements, 4), (4U << 20) + kOutputElements % 8 * 4);
}

/// The share of draws that judge the element which is judged least often, among the elements at the
/// edges of sixteenths.
double least_share(std::uint64_t count, std::uint64_t bytes) {
  std::set<std::uint64_t> elements;
  for (std::uint64_t part = 0; part <= 16; ++part) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      elements.insert(std::min(part * count / 16 + i, count - 1));
      elements.insert(part * count / 16 - std::min(part * count / 16, i + 1));
    }
  }
  constexpr std::uint64_t kDraws = 500;
  std::map<std::uint64_t, std::uint64_t> judged;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    for (const Piece& piece : drawn_pieces(count, bytes, draw)) {
      const auto end = elements.lower_bound(piece.first + piece.count);
      for (auto at = elements.lower_bound(piece.first); at != end; ++at) {
        ++judged[*at];
      }
    }
  }
  std::uint64_t least = kDraws;
  for (const std::uint64_t element : elements) {
    least = std::min(least, judged[element]);
  }
  return static_cast<double>(least) / kDraws;
}

TEST(OutputSample, NoElementIsJudgedLessOftenThanOthers) {
  for (const std::uint64_t bytes : {1U, 2U, 4U, 8U}) {
    for (const std::uint64_t more : {1U, 7U, 9U, 3'000'011U}) {
      const std::uint64_t count = (8U << 20) / bytes + more;
      const auto in_piece = static_cast<double>((256U << 10) / bytes);
      const double share = in_piece / (static_cast<double>(count) / 16 + in_piece);
      EXPECT_GT(least_share(count, bytes), share / 2) << count << " of " << bytes;
    }
  }
}

TEST(OutputSample, TheDrawsTogetherJudgeEveryElement) {
  for (const std::uint64_t bytes : {1U, 2U, 4U, 8U}) {
    for (std::uint64_t count = 1; count < 5000; ++count) {
      EXPECT_EQ(drawn_pieces(count, bytes, count)[0].count, count);
    }
    for (const std::uint64_t more : {1U, 7U, 12'345U, 4'999'991U}) {
      const std::uint64_t count = (8U << 20) / bytes + more;
      std::map<std::uint64_t, std::uint64_t> ends; // by begin
      for (std::uint64_t draw = 0; draw < 600; ++draw) {
        for (const Piece& piece : drawn_pieces(count, bytes, draw)) {
          std::uint64_t& end = ends[piece.first];
          end = std::max(end, piece.first + piece.count);
        }
      }
      std::uint64_t covered = 0;
      for (const auto& [begin, end] : ends) {
        ASSERT_LE(begin, covered) << count << " of " << bytes;
        covered = std::max(covered, end);
      }
      EXPECT_EQ(covered, count);
    }
  }
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
