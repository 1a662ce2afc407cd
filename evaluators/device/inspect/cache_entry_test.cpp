#include "evaluators/device/inspect/cache_entry.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

const std::string kModule("\x7f"
                          "ELF\0\n",
                          6);

TEST(CacheEntry, ReadsWhatItWrites) {
  for (const std::string& module : {kModule, std::string()}) {
    const std::string bytes = encode(CacheEntry{module, "{}"});
    const auto read = decode_cache_entry(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->module, module);
    EXPECT_EQ(read->answer, "{}");
    EXPECT_EQ(module_part(bytes), module);
  }
}

TEST(CacheEntry, RefusesEveryTruncationAndEveryChangedByte) {
  const std::string whole = encode(CacheEntry{kModule, R"({"verdict":"correct"})"});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(decode_cache_entry(whole.substr(0, i))) << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(decode_cache_entry(changed)) << i;
  }
  EXPECT_FALSE(decode_cache_entry(whole + "x"));
}

// Sizes whose sum wraps around 2^64 must not pass for the size of the file.
TEST(CacheEntry, RefusesSizesBeyondTheFile) {
  const std::string whole = encode(CacheEntry{kModule, "{}"});
  const std::size_t sizes = kModule.size() + 2;
  for (const char* forged : {"ffffffffffffffff0000000000000009", "0000000000000009ffffffffffffffff",
                             "ffffffffffffffffffffffffffffffff", "-000000000000006+000000000000002",
                             "00000000000000080000000000000001"}) {
    std::string bytes = whole;
    bytes.replace(sizes, 32, forged);
    EXPECT_FALSE(decode_cache_entry(bytes)) << forged;
    EXPECT_EQ(module_part(bytes), bytes) << forged;
  }
}

TEST(CacheEntry, TakesOtherFilesForModules) {
  EXPECT_EQ(module_part(""), "");
  EXPECT_EQ(module_part(kModule), kModule);
  EXPECT_FALSE(decode_cache_entry(kModule));
}

} // namespace
} // namespace winnow::evaluators
