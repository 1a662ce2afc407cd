#include "base/parallel.h"

#include <vector>

#include <gtest/gtest.h>

namespace winnow {
namespace {

TEST(Parallel, EqualInPartsSeesEveryByte) {
  constexpr std::size_t kSize = (std::size_t{9} << 20U) + 3; // several parts, and some bytes more
  const std::vector<std::byte> left(kSize, std::byte{7});
  std::vector<std::byte> right = left;
  EXPECT_TRUE(equal_in_parts(left, right));
  for (const std::size_t at : {std::size_t{0}, kSize / 2, kSize - 1}) {
    right[at] = std::byte{8};
    EXPECT_FALSE(equal_in_parts(left, right)) << at;
    right[at] = left[at];
  }
  right.pop_back();
  EXPECT_FALSE(equal_in_parts(left, right)) << "another size";
  EXPECT_TRUE(equal_in_parts({}, {}));
}

} // namespace
} // namespace winnow
