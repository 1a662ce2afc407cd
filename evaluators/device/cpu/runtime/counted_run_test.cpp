#include "evaluators/device/cpu/runtime/testing/test_modules.h"

#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using profiling::CounterReport;
using profiling::CounterSet;
using testing::HasSubstr;

struct Shape {
  std::int64_t blocks = 1;
  std::int64_t threads = 32;
  bool check = true;
  bool cooperative = false;
  std::string compiler = {};
};

class CountedRunTest : public CpuDeviceTest {
protected:
  static constexpr std::size_t kFloats = 1 << 16;

  /// The counters of kernel k(float* y, const float* x) of `source`; both buffers have kFloats
  /// elements.
  static CounterReport count(const std::string& source, const Shape& shape) {
    auto device = make();
    device->load_module(build_module(source, {"k"}, {shape.check, shape.compiler}));
    upload(*device, device->allocate("y", kFloats * 4, false), std::vector<float>(kFloats, 1));
    upload(*device, device->allocate("x", kFloats * 4, true), std::vector<float>(kFloats, 2));
    auto step =
        launch_step("k", shape.blocks, shape.threads, {buffer_argument("y"), buffer_argument("x")});
    step.cooperative = shape.cooperative;
    return device->count({step}, CounterSet::Full, [] {});
  }

  static double value(const CounterReport& report, const std::string& key) {
    const auto found = report.counters.find(key);
    EXPECT_TRUE(found != report.counters.end() && found->second.value) << key;
    return found != report.counters.end() ? found->second.value.value_or(-1) : -1;
  }

  static std::vector<std::string> compilers() {
    std::vector<std::string> found;
    for (const char* name : {"clang++", "g++"}) {
      if (std::system((std::string(name) + " --version >/dev/null 2>&1").c_str()) == 0) {
        found.emplace_back(name);
      }
    }
    return found;
  }
};

std::string transpose(int pitch) {
  return "__global__ void k(float* y, const float* x) {\n"
         "  __shared__ float tile[32][" +
         std::to_string(pitch) +
         "];\n"
         "  int c = threadIdx.x % 32, r = threadIdx.x / 32;\n"
         "  for (int i = r; i < 32; i += 8) tile[i][c] = x[blockIdx.x * 1024 + i * 32 + c];\n"
         "  __syncthreads();\n"
         "  for (int i = r; i < 32; i += 8) y[blockIdx.x * 1024 + i * 32 + c] = tile[c][i];\n}";
}

TEST_F(CountedRunTest, CountsTheBankConflictsOfATranspose) {
  for (const std::string& compiler : compilers()) {
    const Shape shape{3, 256, true, false, compiler};
    const CounterReport bad = count(transpose(32), shape);
    // 3 blocks; 32 rows, each written at once; 32 columns, each read in 32 wavefronts.
    EXPECT_EQ(value(bad, "shared_bank_conflicts"), 3 * 32 * 31) << compiler;
    EXPECT_EQ(value(bad, "shared_load_bank_conflicts"), 3 * 32 * 31) << compiler;
    EXPECT_EQ(value(bad, "shared_store_bank_conflicts"), 0) << compiler;
    EXPECT_EQ(value(bad, "shared_wavefronts"), 3 * (32 + 32 * 32)) << compiler;
    const CounterReport good = count(transpose(33), shape);
    EXPECT_EQ(value(good, "shared_bank_conflicts"), 0) << compiler;
    EXPECT_EQ(value(good, "shared_wavefronts"), 3 * 64) << compiler;
    EXPECT_EQ(value(good, "shared_bytes_read"), 3 * 4096) << compiler;
    EXPECT_EQ(value(good, "shared_bytes_written"), 3 * 4096) << compiler;
    EXPECT_EQ(value(good, "barriers"), 3) << compiler;
    EXPECT_EQ(value(good, "access_sample_pct"), 100) << compiler;
  }
}

TEST_F(CountedRunTest, CountsBytesAndSectorsOfACopy) {
  for (const std::string& compiler : compilers()) {
    const CounterReport report =
        count("__global__ void k(float* y, const float* x) {\n"
              "  int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i];\n}",
              {256, 256, true, false, compiler});
    EXPECT_EQ(value(report, "global_bytes_read"), 256 * 256 * 4) << compiler;
    EXPECT_EQ(value(report, "global_bytes_written"), 256 * 256 * 4) << compiler;
    EXPECT_EQ(value(report, "load_sectors_per_request"), 4) << compiler;
    EXPECT_EQ(value(report, "store_sectors_per_request"), 4) << compiler;
    EXPECT_EQ(value(report, "shared_bytes_read"), 0) << compiler;
    EXPECT_EQ(value(report, "shared_wavefronts"), 0) << compiler;
    EXPECT_EQ(value(report, "access_sample_pct"), 25) << compiler; // 64 of 256 blocks
    EXPECT_EQ(value(report, "launches"), 1) << compiler;
    EXPECT_EQ(value(report, "blocks"), 256) << compiler;
    EXPECT_EQ(value(report, "threads"), 256 * 256) << compiler;
    EXPECT_EQ(report.provider, "cpu");
    EXPECT_EQ(report.passes, 1);
    EXPECT_EQ(report.unavailable, "");
  }
}

TEST_F(CountedRunTest, SeesStrides) {
  const CounterReport report = count("__global__ void k(float* y, const float* x) {\n"
                                     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "  y[i] = x[i * 32 % 65536];\n}",
                                     {4, 128});
  EXPECT_EQ(value(report, "load_sectors_per_request"), 32);
  EXPECT_EQ(value(report, "store_sectors_per_request"), 4);
}

TEST_F(CountedRunTest, SeesReadsOfWhatIsWrittenAtOnce) {
  const CounterReport report = count(
      "__global__ void k(float* y, const float* x) { y[threadIdx.x] += x[threadIdx.x]; }", {1, 96});
  EXPECT_EQ(value(report, "global_bytes_read"), 2 * 96 * 4);
  EXPECT_EQ(value(report, "global_bytes_written"), 96 * 4);
}

TEST_F(CountedRunTest, TakesVectorsForOneAccess) {
  for (const std::string& compiler : compilers()) {
    const CounterReport report =
        count("#include \"vector_types.h\"\n"
              "__global__ void k(float* y, const float* x) {\n"
              "  __shared__ float s[256]; int t = threadIdx.x;\n"
              "  float4 a = ((const float4*)x)[t]; a.x += 1; a.y += 2; a.z += 3; a.w += 4;\n"
              "  ((float4*)s)[t ^ 1] = a; __syncthreads();\n"
              "  float4 b = ((float4*)s)[t]; b.x *= 2; b.y *= 3; b.z *= 4; b.w *= 5;\n"
              "  ((float4*)y)[t] = b;\n}",
              {1, 64, true, false, compiler});
    EXPECT_EQ(value(report, "load_sectors_per_request"), 16) << compiler;
    EXPECT_EQ(value(report, "store_sectors_per_request"), 16) << compiler;
    EXPECT_EQ(value(report, "load_access_bytes"), 16) << compiler;
    EXPECT_EQ(value(report, "store_access_bytes"), 16) << compiler;
    EXPECT_EQ(value(report, "shared_bank_conflicts"), 0) << compiler;
    EXPECT_EQ(value(report, "shared_wavefronts"), 2 * 2 * 4) << compiler;
    EXPECT_EQ(value(report, "global_bytes_read"), 64 * 16) << compiler;
  }
}

TEST_F(CountedRunTest, PlacesBuffersAsAGpuWould) {
  auto device = make();
  device->load_module(build_module("__global__ void k(float* y, const float* x) {\n"
                                   "  y[threadIdx.x] = x[threadIdx.x];\n}",
                                   {"k"}, {true, {}}));
  // With these sizes, buffers that end at a guard page begin inside a sector.
  upload(*device, device->allocate("y", 1000 * 4 + 16, false), std::vector<float>(1004, 1));
  upload(*device, device->allocate("x", 1000 * 4 + 48, true), std::vector<float>(1012, 2));
  const CounterReport report =
      device->count({launch_step("k", 1, 64, {buffer_argument("y"), buffer_argument("x")})},
                    CounterSet::Full, [] {});
  EXPECT_EQ(value(report, "load_sectors_per_request"), 4);
  EXPECT_EQ(value(report, "store_sectors_per_request"), 4);
  EXPECT_EQ(value(report, "load_access_bytes"), 4);
}

TEST_F(CountedRunTest, LeavesOutLanesThatTakeNoPart) {
  const CounterReport report = count("__global__ void k(float* y, const float* x) {\n"
                                     "  float sum = 0; int t = threadIdx.x;\n"
                                     "  for (int i = 0; i <= t; ++i) sum += x[i * 32 + t];\n"
                                     "  if (t < 8) y[t] = sum;\n}",
                                     {1, 32});
  EXPECT_EQ(value(report, "global_bytes_read"), 32 * 33 / 2 * 4);
  EXPECT_EQ(value(report, "store_sectors_per_request"), 1);
  // Lanes i to 31 read row i: all four sectors for i < 8, then three, two, one.
  EXPECT_EQ(value(report, "load_sectors_per_request"), (4 + 3 + 2 + 1) / 4.0);
}

TEST_F(CountedRunTest, ExtrapolatesLongLoops) {
  const CounterReport report =
      count("__global__ void k(float* y, const float* x) {\n"
            "  __shared__ float s[2048]; int t = threadIdx.x;\n"
            "  s[t] = x[t]; float sum = 0;\n"
            "#pragma unroll 1\n"
            "  for (int i = 0; i < 1000; ++i) sum += s[(i * 64 + t * 2) % 2048];\n"
            "  y[t] = sum;\n}",
            {1, 32});
  EXPECT_EQ(value(report, "shared_bytes_read"), 1000 * 32 * 4);
  EXPECT_DOUBLE_EQ(value(report, "shared_load_bank_conflicts"), 1000);
  EXPECT_LT(value(report, "access_sample_pct"), 30);
}

TEST_F(CountedRunTest, CountsBarriersAndWarpOperations) {
  const char* const source = "__global__ void k(float* y, const float* x) {\n"
                             "  int t = threadIdx.x; float v = x[t];\n"
                             "  for (int i = 0; i < 5; ++i) { __syncthreads(); v += i; }\n"
                             "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
                             "  if (t < 32) __syncwarp();\n"
                             "  y[blockIdx.x * 96 + t] = v;\n}";
  for (const bool check : {false, true}) {
    const CounterReport report = count(source, {7, 96, check});
    EXPECT_EQ(value(report, "barriers"), 7 * 5);
    EXPECT_EQ(value(report, "warp_operations"), 7 * (3 * 5 + 1));
    EXPECT_EQ(value(report, "grid_barriers"), 0);
  }
}

TEST_F(CountedRunTest, CountsGridBarriers) {
  for (const bool check : {false, true}) {
    const CounterReport report =
        count("__global__ void k(float* y, const float* x) {\n"
              "  int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i];\n"
              "  winnow_grid_sync(1); float v = y[(i + 64) % 256]; winnow_grid_sync(2);\n"
              "  y[i] = v + 1;\n}",
              {4, 64, check, true});
    EXPECT_EQ(value(report, "grid_barriers"), 2);
    EXPECT_EQ(value(report, "barriers"), 0);
    if (check) {
      EXPECT_EQ(value(report, "global_bytes_read"), 2 * 256 * 4);
      EXPECT_EQ(value(report, "load_sectors_per_request"), 4);
    }
  }
}

TEST_F(CountedRunTest, CountsAtomics) {
  const CounterReport report = count("__global__ void k(float* y, const float* x) {\n"
                                     "  __shared__ int n; if (threadIdx.x == 0) n = 0;\n"
                                     "  __syncthreads(); atomicAdd(&n, 1);\n"
                                     "  atomicAdd(y, 1.f); atomicExch(y + 1, 2.f);\n}",
                                     {2, 64});
  EXPECT_EQ(value(report, "atomics"), 2 * 64 * 3);
  EXPECT_EQ(value(report, "global_bytes_read"), 0);
  EXPECT_EQ(report.counters.at("load_sectors_per_request").value, std::nullopt);
  EXPECT_THAT(report.counters.at("load_sectors_per_request").reason, HasSubstr("nothing"));
}

TEST_F(CountedRunTest, APlainModuleSaysWhatItCannotTell) {
  const CounterReport plain = count(transpose(32), {3, 256, false});
  EXPECT_EQ(value(plain, "barriers"), 3);
  EXPECT_EQ(value(plain, "threads"), 768);
  EXPECT_EQ(plain.counters.at("shared_bank_conflicts").value, std::nullopt);
  EXPECT_THAT(plain.counters.at("shared_bank_conflicts").reason, HasSubstr("check mode"));
  const CounterReport checked = count(transpose(32), {3, 256, true});
  ASSERT_EQ(plain.counters.size(), checked.counters.size());
  for (const CounterReport& report : {plain, checked}) {
    for (const auto& [key, counter] : report.counters) {
      EXPECT_EQ(counter.value.has_value(), counter.reason.empty()) << key;
    }
  }
}

TEST_F(CountedRunTest, ReportsAFailedRun) {
  const CounterReport report =
      count("__global__ void k(float* y, const float* x) {\n"
            "  if (threadIdx.x == 3) winnow_trap(\"assert\", \"k.cu\", 2);\n}",
            {1, 32, false});
  EXPECT_THAT(report.unavailable, HasSubstr("the counted run failed"));
  EXPECT_THAT(report.unavailable, HasSubstr("assert"));
  EXPECT_TRUE(report.counters.empty());
}

TEST_F(CountedRunTest, CountingLeavesCheckingAsItWas) {
  auto device = make();
  device->load_module(build_module(
      "__global__ void k(float* y) { if (threadIdx.x == 0) y[0] += 1; }", {"k"}, {true, {}}));
  const std::size_t y = device->allocate("y", 64, false);
  const auto restore = [&] { upload(*device, y, std::vector<float>(16, 0)); };
  const CounterReport report = device->count(on_y(4, 32), CounterSet::Fast, restore);
  EXPECT_EQ(value(report, "global_bytes_written"), 16);
  EXPECT_EQ(download<float>(*device, y, 1)[0], 0); // unchanged
  EXPECT_TRUE(device->findings().empty());
  EXPECT_FALSE(device->run(on_y(4, 32)).has_value());
  EXPECT_FALSE(device->findings().empty()); // with some compilers the read is found, too
}

} // namespace
} // namespace winnow::evaluators
