#include "base/digest.h"
#include "base/files.h"
#include "evaluators/device/compile/module_cache.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {
namespace fs = std::filesystem;

constexpr std::uint64_t kCachedBytes = 100'000;
constexpr CacheBounds kTestBounds{32 * kCachedBytes, 2 * kCachedBytes};

class ModuleCacheTest : public testing::Test {
protected:
  ModuleCache cache() const { return {directory_.path(), ".so", kTestBounds}; }

  static std::string key(int number) { return sha256_hex(std::to_string(number)); }

  static CompileResult compile(const ModuleCache& cache, int number,
                               std::size_t size = kCachedBytes) {
    return cache.compile({}, key(number), [&] {
      ModuleCache::Built built;
      built.compiled.answer.verdict = tasks::Verdict::Correct;
      built.compiled.module.assign(size, 'm');
      built.lasting = true;
      return built;
    });
  }

  std::uint64_t stored() const {
    std::uint64_t sum = 0;
    for (const auto& file : fs::directory_iterator(directory_.path())) {
      sum += file.file_size();
    }
    return sum;
  }

  TemporaryDirectory directory_{"module-cache"};
};

TEST_F(ModuleCacheTest, TheFolderHasABound) {
  for (int i = 0; i < 100; ++i) {
    compile(cache(), i); // each time another process
    EXPECT_LE(stored(), kTestBounds.all_bytes);
  }
  EXPECT_TRUE(compile(cache(), 99).build.from_cache);
  EXPECT_FALSE(compile(cache(), 0).build.from_cache);
}

TEST_F(ModuleCacheTest, WhatWasUsedLongestAgoGoesFirst) {
  const ModuleCache shared = cache();
  for (int i = 0; i < 100; ++i) {
    compile(shared, i);
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // times of files are that coarse
    EXPECT_TRUE(compile(shared, 0).build.from_cache);
  }
  EXPECT_FALSE(compile(shared, 1).build.from_cache);
}

TEST_F(ModuleCacheTest, WhatIsInUseStays) {
  const ModuleCache one = cache();
  const ModuleCache other = cache();
  const CompileResult held = compile(one, -1);
  const CompileResult copy = compile(one, -1);
  for (int i = 0; i < 100; ++i) {
    compile(i % 2 == 0 ? one : other, i);
  }
  EXPECT_TRUE(is_file(held.module));
  EXPECT_EQ(held.module, copy.module);
}

TEST_F(ModuleCacheTest, ALargeModuleLastsAsLongAsItIsUsed) {
  const ModuleCache shared = cache();
  {
    const CompileResult large = compile(shared, 1, 3 * kCachedBytes);
    const CompileResult again = compile(cache(), 1);
    EXPECT_TRUE(again.build.from_cache);
    EXPECT_TRUE(is_file(large.module));
  }
  EXPECT_LT(stored(), kCachedBytes);
  EXPECT_FALSE(compile(shared, 1).build.from_cache);
}

TEST_F(ModuleCacheTest, FilesOfOthersStay) {
  write_file_atomic(directory_.path() / "notes", std::string(40 * kCachedBytes, 'n'));
  for (int i = 0; i < 40; ++i) {
    compile(cache(), i);
  }
  EXPECT_TRUE(is_file(directory_.path() / "notes"));
}

} // namespace
} // namespace winnow::evaluators
