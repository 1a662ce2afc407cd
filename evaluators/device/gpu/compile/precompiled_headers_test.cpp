#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/gpu/compile/precompiled_headers.h"
#include "process/fence.h"

#include <chrono>
#include <fstream>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/personality.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    files.push_back(entry.path());
  }
  return files;
}

class PrecompiledHeadersTest : public testing::Test {
protected:
  PrecompiledHeaders::Make writes(const std::string& text) {
    return [this, text](const fs::path& file) {
      ++made_;
      std::ofstream(file) << text;
      return std::uint64_t{0x7ff0};
    };
  }
  static PrecompiledHeaders::Make fails() {
    return [](const fs::path& file) -> std::uint64_t {
      std::ofstream(file) << "half";
      throw Error("no such compiler");
    };
  }

  TemporaryDirectory cache_{"precompiled-test"};
  fs::path directory_ = cache_.path() / "precompiled";
  int made_ = 0;
};

TEST_F(PrecompiledHeadersTest, AreMadeOnce) {
  PrecompiledHeaders headers(directory_);
  const auto first = headers.get("ab", writes("image"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->library_address, 0x7ff0U);
  EXPECT_EQ(read_file(first->file, 100), "image");
  EXPECT_EQ(headers.get("ab", writes("other"))->file, first->file);
  const auto later = PrecompiledHeaders(directory_).get("ab", writes("other"));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->file, first->file);
  EXPECT_EQ(later->library_address, 0x7ff0U);
  EXPECT_EQ(made_, 1);
  EXPECT_NE(headers.get("cd", writes("other"))->file, first->file);
}

TEST_F(PrecompiledHeadersTest, AreMadeAnewWhenDamagedOrGone) {
  for (const char* damaged : {"imag", "", "imagx"}) {
    const auto first = PrecompiledHeaders(directory_).get("ab", writes("image"));
    ASSERT_TRUE(first);
    std::ofstream(first->file) << damaged;
    PrecompiledHeaders headers(directory_);
    const auto second = headers.get("ab", writes("image"));
    ASSERT_TRUE(second);
    EXPECT_EQ(read_file(second->file, 100), "image");
    fs::remove(second->file);
    EXPECT_EQ(read_file(headers.get("ab", writes("new"))->file, 100), "new");
    fs::remove_all(directory_);
  }
}

TEST_F(PrecompiledHeadersTest, FailOnceAndForAll) {
  PrecompiledHeaders headers(directory_);
  EXPECT_FALSE(headers.get("ab", fails()));
  EXPECT_FALSE(headers.get("ab", writes("image")));
  EXPECT_TRUE(files_in(directory_).empty());
  std::ofstream(cache_.path() / "file") << "no directory";
  EXPECT_FALSE(PrecompiledHeaders(cache_.path() / "file").get("ab", writes("image")));
}

TEST_F(PrecompiledHeadersTest, AreGivenUpWhenTheyCrashTheCompiler) {
  PrecompiledHeaders headers(directory_);
  ASSERT_TRUE(headers.get("ab", writes("image")));
  headers.reject("ab");
  EXPECT_TRUE(files_in(directory_).empty());
  EXPECT_FALSE(headers.get("ab", writes("image")));
}

TEST_F(PrecompiledHeadersTest, AreFew) {
  PrecompiledHeaders headers(directory_);
  for (const char* key : {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}) {
    const auto made = headers.get(key, writes(key));
    ASSERT_TRUE(made);
    fs::last_write_time(made->file, fs::file_time_type::clock::now() - std::chrono::hours(9) +
                                        std::chrono::minutes(made_));
  }
  EXPECT_EQ(files_in(directory_).size(), 6U);
  for (const char* key : {"a3", "a8"}) {
    ASSERT_TRUE(PrecompiledHeaders(directory_).get(key, fails())) << key;
  }
}

CompileRequest header_request(std::string source, bool fast_math = false) {
  CompileRequest request;
  request.file = "test.cu";
  request.source = std::move(source);
  request.kernels = {"k<128>"};
  request.fast_math = fast_math;
  return request;
}

const std::string kSum = R"(#include <cub/block/block_reduce.cuh>
template <int N> __global__ void k(float* x) {
  using Reduce = cub::BlockReduce<float, N>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) x[0] = sum;
}
)";
const std::string kSort = R"(#define ITEMS 4
#include "cub/cub.cuh"
#include <cooperative_groups.h>
#include <cuda_fp16.h>
template <int N> __global__ void k(unsigned* x) {
  using Sort = cub::BlockRadixSort<unsigned, N, ITEMS>;
  using Scan = cub::BlockScan<unsigned, N>;
  __shared__ union { typename Sort::TempStorage sort; typename Scan::TempStorage scan; } storage;
  unsigned v[ITEMS];
  for (int i = 0; i < ITEMS; ++i) v[i] = x[threadIdx.x * ITEMS + i];
  Sort(storage.sort).Sort(v);
  cooperative_groups::this_thread_block().sync();
  Scan(storage.scan).ExclusiveSum(v[0], v[1]);
  for (int i = 0; i < ITEMS; ++i) x[threadIdx.x * ITEMS + i] = v[i];
}
)";

// Needs NVRTC of CUDA 12.8 and CUDA's headers, but no GPU.
class CubTest : public testing::Test {
protected:
  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "sanitizers map memory in an order of their own";
    }
    const NvrtcSearch search = find_nvrtc();
    if (!search.installation || search.installation->include_directories.empty()) {
      GTEST_SKIP() << "no NVRTC with headers: " << search.availability.why;
    }
    const NvrtcLibrary library(search.installation->library, search.installation->builtins);
    if (library.functions().set_pch_heap_size == nullptr) {
      GTEST_SKIP() << search.installation->version << " has no precompiled headers";
    }
    const int before = personality(0xffffffff);
    if (personality(static_cast<unsigned>(before) | ADDR_NO_RANDOMIZE) < 0) {
      GTEST_SKIP() << "address space randomisation cannot be switched off here";
    }
    personality(static_cast<unsigned>(before));
  }

  std::unique_ptr<Compiler> compiler(bool precompile = true) const {
    return compiler(precompile, process::Sandbox::best());
  }
  std::unique_ptr<Compiler> compiler(bool precompile, process::Sandbox sandbox) const {
    GpuCompilerOptions options;
    options.kind = "cuda";
    options.architecture = "sm_90a";
    options.cache = cache_.path() / (precompile ? "with" : "without");
    options.precompile = precompile;
    return make_gpu_compiler(std::move(sandbox), options);
  }
  fs::path directory() const { return cache_.path() / "with/cuda/precompiled"; }

  TemporaryDirectory cache_{"cub-test"};
};

TEST_F(CubTest, IsPrecompiledOnceAndTheCodeIsTheSame) {
  const auto shared = compiler();
  std::vector<std::future<CompileResult>> running;
  for (const std::string& source : {kSum, kSort, kSum + "// " + std::string(300'000, 'x')}) {
    running.push_back(std::async(
        std::launch::async, [&shared, source] { return shared->compile(header_request(source)); }));
  }
  std::vector<std::string> digests;
  for (auto& one : running) {
    const CompileResult result = one.get();
    ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
    EXPECT_TRUE(result.used_precompiled);
    EXPECT_THAT(result.build.log, Not(HasSubstr("precompiled")));
    digests.push_back(result.build.machine_code_digest);
  }
  EXPECT_EQ(files_in(directory()).size(), 1U);
  EXPECT_EQ(digests[0], digests[2]);
  for (const auto& [source, digest] : {std::pair(kSum, digests[0]), std::pair(kSort, digests[1])}) {
    const CompileResult full = compiler(false)->compile(header_request(source));
    EXPECT_FALSE(full.used_precompiled);
    EXPECT_EQ(full.build.machine_code_digest, digest);
  }
}

TEST_F(CubTest, IsPrecompiledBehindEveryFence) {
  for (const process::Isolation level :
       {process::Isolation::Rlimits, process::Isolation::LandlockSeccomp,
        process::Isolation::Bubblewrap}) {
    if (!process::probe_isolation().at(level).ok) {
      continue;
    }
    const auto fenced = compiler(true, process::Sandbox(level, executable_path()));
    const CompileResult result =
        fenced->compile(header_request(kSum + "// " + std::string(to_string(level))));
    ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
    EXPECT_TRUE(result.used_precompiled) << to_string(level);
  }
}

TEST_F(CubTest, CooperativeGroupsArePrecompiledToo) {
  const std::string source = R"(// unlike cub/block/block_reduce.cuh
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template <int N> __global__ void k(float* x) {
  cg::this_grid().sync();
  x[N] = cg::tiled_partition<32>(cg::this_thread_block()).shfl_down(x[threadIdx.x], 1);
}
)";
  const CompileResult full = compiler(false)->compile(header_request(source));
  ASSERT_EQ(full.verdict, Verdict::Correct) << full.detail;
  // A comment is enough to offer it CUB's, which are not taken.
  EXPECT_FALSE(compiler()->compile(header_request(source)).used_precompiled);
  const CompileResult result =
      compiler()->compile(header_request(source.substr(source.find('\n'))));
  EXPECT_TRUE(result.used_precompiled);
  EXPECT_EQ(result.build.machine_code_digest, full.build.machine_code_digest);
}

TEST_F(CubTest, IsNotPrecompiledForOthers) {
  const CompileResult result = compiler()->compile(
      header_request("template <int N> __global__ void k(float* x) { x[0] = N; }"));
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_FALSE(result.used_precompiled);
  EXPECT_TRUE(files_in(directory()).empty());
}

TEST_F(CubTest, ErrorsKeepTheirLines) {
  const std::string wrong = "#include <cub/cub.cuh>\n"
                            "template <int N> __global__ void k(float* x) {\n"
                            "  cub::WarpExchange<int, 4, N - 95> exchange;\n"
                            "  x[0] = undefined_thing;\n"
                            "}\n";
  for (const bool precompile : {true, false}) {
    const CompileResult result = compiler(precompile)->compile(header_request(wrong));
    EXPECT_EQ(result.verdict, Verdict::CompileError);
    EXPECT_EQ(result.used_precompiled, precompile);
    EXPECT_THAT(result.detail, StartsWith("test.cu:4: identifier \"undefined_thing\""));
    EXPECT_THAT(result.build.log, HasSubstr("test.cu:3: static assertion failed"));
    EXPECT_THAT(result.build.log, Not(HasSubstr("precompiled")));
  }
}

TEST_F(CubTest, DamagedFilesCostNoCandidate) {
  const auto shared = compiler();
  ASSERT_TRUE(shared->compile(header_request(kSum)).used_precompiled);
  const fs::path file = files_in(directory()).at(0);
  fs::resize_file(file, fs::file_size(file) / 2); // NVRTC: bus error
  const CompileResult without = shared->compile(header_request(kSum + "// other"));
  EXPECT_EQ(without.verdict, Verdict::Correct) << without.detail;
  EXPECT_FALSE(without.used_precompiled);
  const CompileResult with = compiler()->compile(header_request(kSum + "// again"));
  EXPECT_EQ(with.verdict, Verdict::Correct) << with.detail;
  EXPECT_TRUE(with.used_precompiled);
}

TEST_F(CubTest, FilesThatNvrtcRefusesCostNoCandidate) {
  const auto shared = compiler();
  ASSERT_TRUE(shared->compile(header_request(kSum)).used_precompiled);
  const fs::path file = files_in(directory()).at(0);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}}) {
    fs::resize_file(file, size);
    const CompileResult result =
        shared->compile(header_request(kSum + "// " + std::to_string(size) + "\n"));
    EXPECT_EQ(result.verdict, Verdict::Correct) << result.detail;
    EXPECT_FALSE(result.used_precompiled);
  }
}

} // namespace
} // namespace winnow::evaluators
