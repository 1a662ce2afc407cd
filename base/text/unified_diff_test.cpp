#include "base/text.h"
#include "base/text/unified_diff.h"

#include <chrono>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnifiedDiff, ShowsChangesWithContext) {
  EXPECT_THAT(unified_diff("a\nb\nc\n", "a\nb\nc\n"), IsEmpty());
  EXPECT_THAT(unified_diff("", ""), IsEmpty());
  EXPECT_THAT(unified_diff("a\nb\nc\n", "a\nx\nc\n"),
              ElementsAre("@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"));
  EXPECT_THAT(unified_diff("", "a\n"), ElementsAre("@@ -0,0 +1,1 @@", "+a"));
  EXPECT_THAT(unified_diff("a\nb\n", "b\n"), ElementsAre("@@ -1,2 +1,1 @@", "-a", " b"));
  EXPECT_THAT(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\ny\n9\n", 1),
              ElementsAre("@@ -1,3 +1,3 @@", " 1", "-2", "+x", " 3", "@@ -7,3 +7,3 @@", " 7", "-8",
                          "+y", " 9"));
}

/// The text that the diff makes of `a`, taken from its lines with all equal ones.
std::string patched(const std::vector<std::string>& diff, const std::string& dropped) {
  std::string text;
  for (const std::string& line : diff) {
    text += line.starts_with("@@") || line.starts_with(dropped) ? "" : line.substr(1) + "\n";
  }
  return text;
}

TEST(UnifiedDiff, OfRandomTextsRebuildsBoth) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto text = [&] {
      std::string lines;
      for (auto left = random() % 30; left > 0; --left) {
        lines += static_cast<char>('a' + random() % 4) + std::string("\n");
      }
      return lines;
    };
    const std::string a = text(), b = text();
    if (a != b) {
      const std::vector<std::string> diff = unified_diff(a, b, 1000);
      EXPECT_EQ(patched(diff, "+"), a);
      EXPECT_EQ(patched(diff, "-"), b);
    }
  }
}

TEST(UnifiedDiff, OfLargeTextsWithoutAnEqualLineEnds) {
  std::string a, b;
  for (int i = 0; i < 100'000; ++i) {
    a += "a" + std::to_string(i) + "\n";
    b += "b" + std::to_string(i) + "\n";
  }
  const std::vector<std::string> diff = unified_diff(a, b);
  EXPECT_EQ(diff.size(), 200'001U);
  EXPECT_EQ(diff.front(), "@@ -1,100000 +1,100000 @@");
}

} // namespace
} // namespace winnow
