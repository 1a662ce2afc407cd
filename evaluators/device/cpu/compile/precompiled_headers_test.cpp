#include "base/files.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/compile/precompiled_headers.h"
#include "evaluators/device/inspect/cache_entry.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;
using tasks::Verdict;

constexpr std::uint64_t kMaxBytes = 16U << 20U;
constexpr BuildMode kModes[] = {BuildMode::Plain, BuildMode::Check};

// Each test has a cache of its own, because a cache counts the builds.
class PrecompiledHeaders : public testing::Test {
protected:
  void SetUp() override {
    const Availability availability = probe_cpu_compiler("clang++");
    if (!availability.ok) {
      GTEST_SKIP() << availability.why;
    }
  }

  static CompileResult compile(const fs::path& cache, const std::string& source, BuildMode mode,
                               const std::string& name = "clang++") {
    CpuCompilerOptions options;
    options.cache = cache;
    options.compiler = name;
    CompileRequest request;
    request.file = "test.cu";
    request.source = source;
    request.kernels = {"kernel"};
    request.mode = mode;
    return make_cpu_compiler(process::Sandbox::best(), options)->compile(request);
  }

  /// A kernel whose source no other index has, so that the module cache does not answer. Its name
  /// is as long as the random part of a temporary directory's name, because the linker merges a
  /// string with another one that ends with it.
  static std::string kernel(int index) {
    return "__global__ void kernel(float* x, int n) { __shared__ float s[32];\n"
           "s[threadIdx.x] = x[n]; __syncthreads(); x[threadIdx.x] = expf(s[0]) + " +
           std::to_string(index) + "; }\n";
  }

  static void compile_three(const fs::path& cache, BuildMode mode,
                            const std::string& name = "clang++") {
    for (int index = 0; index < 3; ++index) {
      EXPECT_EQ(compile(cache, kernel(index), mode, name).verdict, Verdict::Correct);
    }
  }

  /// The bytes, without the name of the temporary directory, which debug information has.
  static std::string module_bytes(const CompileResult& result) {
    constexpr std::string_view kDirectory = "winnow.compile.", kUnique = "XXXXXX";
    const std::string entry = read_file(result.module, kMaxBytes);
    std::string bytes(module_part(entry));
    for (auto at = bytes.find(kDirectory); at != std::string::npos;
         at = bytes.find(kDirectory, at + 1)) {
      bytes.replace(at + kDirectory.size(), kUnique.size(), kUnique);
    }
    return bytes;
  }

  static std::vector<fs::path> precompiled_files(const fs::path& cache) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(cache)) {
      if (entry.path().filename().string().ends_with(".pch")) {
        files.push_back(entry.path());
      }
    }
    return files;
  }

  TemporaryDirectory cache_{"precompiled"};
};

TEST_F(PrecompiledHeaders, AreMadeByTheThirdBuildAndChangeNoByte) {
  for (const BuildMode mode : kModes) {
    const TemporaryDirectory cache("precompiled");
    compile(cache.path(), kernel(0), mode);
    compile(cache.path(), kernel(1), mode);
    EXPECT_THAT(precompiled_files(cache.path()), testing::IsEmpty());
    const CompileResult with = compile(cache.path(), kernel(2), mode);
    ASSERT_EQ(with.verdict, Verdict::Correct) << with.detail;
    const std::string bytes = module_bytes(with);
    ASSERT_THAT(precompiled_files(cache.path()), testing::SizeIs(1));
    // The same cache again, because debug information has its path.
    const fs::path precompiled = precompiled_files(cache.path()).front();
    fs::remove(precompiled);
    fs::remove(precompiled.string() + ".builds");
    fs::remove_all(with.module.parent_path());
    const CompileResult without = compile(cache.path(), kernel(2), mode);
    EXPECT_THAT(precompiled_files(cache.path()), testing::IsEmpty());
    ASSERT_EQ(without.verdict, Verdict::Correct) << without.detail;
    EXPECT_FALSE(without.build.from_cache);
    EXPECT_TRUE(bytes == module_bytes(without));
    EXPECT_EQ(with.build.digest, without.build.digest);
  }
}

TEST_F(PrecompiledHeaders, TellMistakesAsWithoutThem) {
  compile_three(cache_.path(), BuildMode::Plain);
  const TemporaryDirectory fresh("precompiled");
  for (const std::string& mistake :
       {std::string("__global__ void kernel(float* x) { x[0] = oops; }\n"),
        std::string("__global__ void kernel(float* x) { x[0] = __shfl_sync(1, \"a\", 2); }\n"),
        std::string("#error \"PCH file\"\n__global__ void kernel() {}\n")}) {
    const CompileResult with = compile(cache_.path(), mistake, BuildMode::Plain);
    const CompileResult without = compile(fresh.path(), mistake, BuildMode::Plain);
    EXPECT_EQ(with.verdict, Verdict::CompileError);
    EXPECT_EQ(with.detail, without.detail);
    EXPECT_EQ(with.build.log, without.build.log);
  }
}

TEST_F(PrecompiledHeaders, OfNoUseAreLeftOut) {
  compile_three(cache_.path(), BuildMode::Plain);
  const std::vector<fs::path> files = precompiled_files(cache_.path());
  ASSERT_THAT(files, testing::SizeIs(1));
  const std::string good = read_file(files.front(), kMaxBytes);
  int index = 100;
  for (const std::string& bad :
       {std::string(), std::string("no precompiled headers"), good.substr(0, good.size() / 2),
        good.substr(0, good.size() / 2) + std::string(good.size() / 2, '\xff')}) {
    std::ofstream(files.front(), std::ios::binary | std::ios::trunc) << bad;
    const CompileResult result = compile(cache_.path(), kernel(++index), BuildMode::Plain);
    EXPECT_EQ(result.verdict, Verdict::Correct) << bad.size() << ": " << result.detail;
  }
}

TEST_F(PrecompiledHeaders, AreNotMadeForGxx) {
  if (!probe_cpu_compiler("g++").ok) {
    GTEST_SKIP() << "no g++";
  }
  compile_three(cache_.path(), BuildMode::Plain, "g++");
  EXPECT_THAT(precompiled_files(cache_.path()), testing::IsEmpty());
}

} // namespace
} // namespace winnow::evaluators
