#include "evaluators/device/cpu/runtime/testing/test_modules.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const char* const kTransposeTile = "__global__ void k(float* y) {\n"
                                   "  __shared__ float tile[32][33];\n"
                                   "  int x = threadIdx.x % 32, r = threadIdx.x / 32;\n"
                                   "  for (int i = r; i < 32; i += 8) tile[i][x] = y[i * 32 + x];\n"
                                   "  BARRIER;\n"
                                   "  for (int i = r; i < 32; i += 8) y[i * 32 + x] = tile[x][i];\n"
                                   "}";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

class CheckerTest : public CpuDeviceTest {
protected:
  /// The findings in kernel k(float* y) of `source`. y has 1024 different elements.
  static std::vector<CheckFinding> find(const std::string& source, std::int64_t blocks,
                                        std::int64_t threads, const std::string& compiler = "",
                                        bool cooperative = false) {
    auto device = make();
    device->load_module(build_module(source, {"k"}, {true, compiler}));
    std::vector<float> values(1024);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i % 97) + 1;
    }
    upload(*device, device->allocate("y", 4096, false), values);
    auto steps = on_y(blocks, threads);
    auto& launch = std::get<tasks::LaunchStep>(steps[0]);
    launch.shared_bytes = 1024;
    launch.cooperative = cooperative;
    const auto fault = device->run(steps);
    EXPECT_FALSE(fault.has_value()) << fault->detail;
    return device->findings();
  }
};

testing::Matcher<CheckFinding> says(bool certain, const testing::Matcher<std::string>& text) {
  return AllOf(Field(&CheckFinding::certain, certain), Field(&CheckFinding::detail, text));
}

TEST_F(CheckerTest, FindsAMissingBarrier) {
  EXPECT_THAT(find(with(kTransposeTile, "BARRIER", ""), 1, 256),
              Contains(says(true, AllOf(HasSubstr("data race"), HasSubstr("shared array 'tile'"),
                                        HasSubstr("thread (")))));
  EXPECT_THAT(find(with(kTransposeTile, "BARRIER", "__syncthreads()"), 1, 256),
              testing::Not(Contains(says(true, HasSubstr("shared array")))));
}

TEST_F(CheckerTest, KnowsTheSizeOfABufferThatTakesThePlaceOfASmallerOne) {
  auto device = make();
  device->load_module(
      build_module("__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }", {"k"}, {true, ""}));
  for (const std::int64_t threads : {1, 3}) {
    device->release_buffers();
    device->allocate("y", static_cast<std::size_t>(threads) * sizeof(float), false);
    EXPECT_FALSE(device->run(on_y(1, threads)).has_value());
  }
  EXPECT_TRUE(device->findings().empty());
}

TEST_F(CheckerTest, FindsAWriteAfterARead) {
  const std::string source = "__global__ void k(float* y) {\n"
                             "  __shared__ float s[64]; int t = threadIdx.x;\n"
                             "  s[t] = y[t]; __syncthreads();\n"
                             "  float v = s[(t + 1) % 64]; BARRIER;\n"
                             "  s[t] = v; __syncthreads(); y[t] = s[63 - t];\n}";
  EXPECT_THAT(find(with(source, "BARRIER", ""), 1, 64), Contains(says(true, HasSubstr("'s'"))));
  EXPECT_THAT(find(with(source, "BARRIER", "__syncthreads()"), 1, 64), IsEmpty());
}

TEST_F(CheckerTest, FollowsWarpOperations) {
  const std::string source = "__global__ void k(float* y) {\n"
                             "  __shared__ float s[64]; int t = threadIdx.x;\n"
                             "  s[t] = y[t]; SYNC;\n"
                             "  y[t] = s[t ^ PARTNER];\n}";
  const auto found = [&](const char* sync, const char* partner) {
    return find(with(with(source, "SYNC", sync), "PARTNER", partner), 1, 64);
  };
  EXPECT_THAT(found("__syncwarp()", "3"), IsEmpty());
  EXPECT_THAT(found("__shfl_sync(~0u, t, 0)", "31"), IsEmpty());
  EXPECT_THAT(found("__syncwarp(t % 32 < 16 ? 0xffff : 0xffff0000)", "15"), IsEmpty());
  EXPECT_THAT(found("__syncwarp(t % 32 < 16 ? 0xffff : 0xffff0000)", "16"),
              Contains(says(true, HasSubstr("data race"))));
  EXPECT_THAT(found("__syncwarp()", "32"), Contains(says(true, HasSubstr("data race"))));
  EXPECT_THAT(found("", "1"), Contains(says(true, HasSubstr("data race"))));
}

TEST_F(CheckerTest, FindsLostUpdatesBetweenBlocks) {
  EXPECT_THAT(find("__global__ void k(float* y) { if (threadIdx.x == 0) y[0] += 1; }", 4, 32),
              Contains(says(true, AllOf(HasSubstr("buffer 'y'"), HasSubstr("of block")))));
  EXPECT_THAT(find("__global__ void k(float* y) { atomicAdd(y, 1.f); }", 4, 32), IsEmpty());
}

TEST_F(CheckerTest, OnlyWarnsOfTheLastBlockPattern) {
  const auto found = find("__device__ unsigned done;\n"
                          "__global__ void k(float* y) {\n"
                          "  __shared__ bool last;\n"
                          "  if (threadIdx.x == 0) {\n"
                          "    y[blockIdx.x] = blockIdx.x * 2; __threadfence();\n"
                          "    last = atomicAdd(&done, 1u) == gridDim.x - 1;\n"
                          "  }\n"
                          "  __syncthreads();\n"
                          "  if (last && threadIdx.x == 0) {\n"
                          "    float sum = 0; for (int i = 0; i < gridDim.x; ++i) sum += y[i];\n"
                          "    y[100] = sum;\n"
                          "  }\n}",
                          8, 64);
  EXPECT_THAT(found, testing::Each(Field(&CheckFinding::certain, false)));
}

TEST_F(CheckerTest, FindsUninitialisedSharedMemory) {
  EXPECT_THAT(find("__global__ void k(float* y) {\n"
                   "  __shared__ float total;\n"
                   "  atomicAdd(&total, y[threadIdx.x]); __syncthreads();\n"
                   "  if (threadIdx.x == 0) y[blockIdx.x] = total;\n}",
                   2, 64),
              Contains(says(true, AllOf(HasSubstr("uninitialised"), HasSubstr("'total'")))));
  EXPECT_THAT(find("__global__ void k(float* y) {\n"
                   "  float* s = (float*)winnow_dynamic_shared();\n"
                   "  if (threadIdx.x != 7) s[threadIdx.x] = 1;\n"
                   "  __syncthreads(); y[threadIdx.x] = s[threadIdx.x];\n}",
                   1, 64),
              Contains(says(true, AllOf(HasSubstr("thread (7,0,0)"),
                                        HasSubstr("byte 28 of dynamic shared memory")))));
}

TEST_F(CheckerTest, BelievesStoresOfWideVectors) {
  const auto found = [&](const std::string& first) {
    return find("typedef float wide __attribute__((vector_size(32)));\n"
                "__global__ void k(float* y) {\n"
                "  float* s = (float*)winnow_dynamic_shared();\n"
                "  wide v = {1, 2, 3, 4, 5, 6, 7, 8};\n"
                "  if (threadIdx.x == 0) *(wide*)s = v;\n"
                "  __syncthreads(); y[threadIdx.x] = s[" +
                    first + " + threadIdx.x % 8];\n}",
                1, 32);
  };
  EXPECT_THAT(found("0"), IsEmpty());
  EXPECT_THAT(found("8"),
              Contains(says(true, HasSubstr("of dynamic shared memory, which is uninitialised"))));
}

TEST_F(CheckerTest, FindsOverrunsOfSharedArrays) {
  const std::string body = "void NAME(float* y) {\n"
                           "  __shared__ float a[32]; __shared__ float b[32];\n"
                           "  int t = threadIdx.x; b[t] = t; a[t + (int)(y[0] > 0)] = t;\n"
                           "  __syncthreads(); y[t] = a[31 - t] + b[t];\n}";
  // In a template, the arrays are in sections of their own.
  const std::string plain = "__global__ " + with(body, "NAME", "k");
  const std::string templated = "template <int N> __device__ " + with(body, "NAME", "f") +
                                "\n__global__ void k(float* y) { f<1>(y); }";
  for (const char* compiler : {"clang++", "g++"}) {
    if (std::system((std::string(compiler) + " --version >/dev/null 2>&1").c_str()) != 0) {
      continue;
    }
    for (const std::string& source : {plain, templated}) {
      EXPECT_THAT(find(source, 1, 32, compiler),
                  Contains(AllOf(Field(&CheckFinding::verdict, tasks::Verdict::OutOfBounds),
                                 says(true, AllOf(HasSubstr("shared array 'a'"),
                                                  HasSubstr("byte 128 of 128 bytes"))))))
          << compiler << "\n"
          << source;
    }
  }
}

TEST_F(CheckerTest, FindsSmallOverrunsOfBuffers) {
  auto device = make();
  device->load_module(
      build_module("__global__ void k(float* y) { y[0] = y[5]; }", {"k"}, {true, {}}));
  device->allocate("y", 20, false);
  EXPECT_FALSE(device->run(on_y(1, 1)).has_value());
  EXPECT_THAT(device->findings(),
              Contains(says(true, HasSubstr("reads outside of buffer 'y': byte 20 of 20"))));
}

TEST_F(CheckerTest, FollowsGridBarriers) {
  const std::string source = "__global__ void k(float* y) {\n"
                             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  y[i] = i; SYNC;\n"
                             "  float v = y[(i + 64) % 256]; SYNC;\n"
                             "  y[i] = v + 1;\n}";
  const std::string sync = "winnow_grid_sync(__builtin_LINE())";
  EXPECT_THAT(find(with(with(source, "SYNC", sync), "SYNC", sync), 4, 64, "", true), IsEmpty());
  EXPECT_THAT(find(with(with(source, "SYNC", sync), "SYNC", ""), 4, 64, "", true),
              Contains(says(true, HasSubstr("buffer 'y'"))));
}

TEST_F(CheckerTest, AcceptsThreadsThatWriteTheSameValue) {
  EXPECT_THAT(find("__global__ void k(float* y) {\n"
                   "  __shared__ int n; n = 5; __syncthreads(); y[100] = 3;\n"
                   "  if (blockIdx.x == 0) y[threadIdx.x] = n;\n}",
                   4, 64),
              IsEmpty());
}

const char* const kGood[] = {
    // Tiled matrix product, 32 x 32 with tiles of 16.
    "__global__ void k(float* y) {\n"
    "  __shared__ float a[16][16], b[16][17];\n"
    "  int x = threadIdx.x % 16, r = threadIdx.x / 16; float sum = 0;\n"
    "  for (int t = 0; t < 2; ++t) {\n"
    "    a[r][x] = y[r * 16 + x]; b[r][x] = y[256 + x * 16 + r];\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < 16; ++i) sum += a[r][i] * b[i][x];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  y[512 + threadIdx.x] = sum;\n}",
    // Softmax of a row in dynamic shared memory, with a tree reduction.
    "__global__ void k(float* y) {\n"
    "  float* s = (float*)winnow_dynamic_shared(); int t = threadIdx.x;\n"
    "  float* row = y + blockIdx.x * 256; s[t] = row[t]; __syncthreads();\n"
    "  for (int d = 128; d > 0; d /= 2) {\n"
    "    if (t < d) s[t] = s[t] > s[t + d] ? s[t] : s[t + d];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  float m = s[0]; __syncthreads(); s[t] = row[t] - m; __syncthreads();\n"
    "  row[t] = s[t];\n}",
    // Sum by shuffles, then by the first warp.
    "__global__ void k(float* y) {\n"
    "  __shared__ float part[8]; int t = threadIdx.x; float v = y[t];\n"
    "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
    "  if (t % 32 == 0) part[t / 32] = v;\n"
    "  __syncthreads();\n"
    "  if (t < 32) {\n"
    "    v = t < 8 ? part[t] : 0;\n"
    "    for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
    "    if (t == 0) atomicAdd(y + 900, v);\n"
    "  }\n}",
    // Histogram with shared and global atomics.
    "__global__ void k(float* y) {\n"
    "  __shared__ unsigned bins[32]; int t = threadIdx.x;\n"
    "  if (t < 32) bins[t] = 0;\n"
    "  __syncthreads();\n"
    "  atomicAdd(&bins[(int)y[t] % 32], 1); __syncthreads();\n"
    "  if (t < 32) atomicAdd((unsigned*)y + 512 + t, bins[t]);\n}",
    // Neighbouring half-precision elements, written by different threads.
    "__global__ void k(float* y) {\n"
    "  __shared__ unsigned short h[256]; int t = threadIdx.x;\n"
    "  h[t] = t; __syncthreads(); h[t] += h[t]; __syncthreads();\n"
    "  ((unsigned short*)y)[t] = h[255 - t];\n}",
    // Vector copies.
    "struct alignas(16) V { float x, y, z, w; };\n"
    "__global__ void k(float* y) {\n"
    "  __shared__ alignas(16) float s[1024]; int t = threadIdx.x;\n"
    "  ((V*)s)[t] = ((V*)y)[t]; __syncthreads(); y[t] = s[1023 - t];\n}",
};

TEST_F(CheckerTest, FindsNothingInGoodKernels) {
  for (const char* compiler : {"clang++", "g++"}) {
    if (std::system((std::string(compiler) + " --version >/dev/null 2>&1").c_str()) != 0) {
      continue;
    }
    for (const char* source : kGood) {
      std::string text = source;
      if (const auto at = text.find("__shared__ alignas(16)"); at != std::string::npos) {
        text.replace(at, 22, "alignas(16) static thread_local"); // like the source pass
      }
      EXPECT_THAT(find(text, 1, 256, compiler), IsEmpty()) << compiler << "\n" << source;
    }
  }
}

} // namespace
} // namespace winnow::evaluators
