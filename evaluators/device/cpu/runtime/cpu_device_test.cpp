#include "base/error.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/cpu/runtime/launch_arguments.h"
#include "evaluators/device/cpu/runtime/testing/test_modules.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

TEST_F(CpuDeviceTest, RunsAKernelWithoutBarriers) {
  auto device = make();
  device->load_module(build_module(
      "template <int N> __global__ void axpy(float a, const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] += N * a * x[i];\n}",
      {"axpy<2>"}));
  constexpr std::size_t kCount = 10007;
  std::vector<float> x(kCount);
  std::iota(x.begin(), x.end(), 0.0F);
  upload(*device, device->allocate("x", kCount * 4, true), x);
  const std::size_t y = device->allocate("y", kCount * 4, false);
  upload(*device, y, std::vector<float>(kCount, 1));
  const auto fault = device->run({launch_step(
      "axpy<2>", 40, 256,
      {float_argument(0.5), buffer_argument("x"), buffer_argument("y"), int_argument(kCount)})});
  EXPECT_FALSE(fault.has_value());
  const auto result = download<float>(*device, y, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(result[i], 1 + x[i]);
  }
  EXPECT_GT(device->elapsed().count(), 0);
  EXPECT_FALSE(device->verify_guards().has_value());
}

TEST_F(CpuDeviceTest, RunsBarriersShufflesAndAtomics) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  __shared__ float part[32];\n"
                     "  float v = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);\n"
                     "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"
                     "  __syncthreads();\n"
                     "  if (threadIdx.x < 32) {\n"
                     "    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;\n"
                     "    for (int m = 16; m > 0; m /= 2) v += __shfl_xor_sync(~0u, v, m);\n"
                     "    if (threadIdx.x == 0) atomicAdd(y, v);\n"
                     "  }\n}",
                     1);
  EXPECT_FALSE(device->run(on_y(17, 256)).has_value());
  const double n = 17 * 256;
  EXPECT_EQ(download<float>(*device, 0, 1)[0], static_cast<float>(n * (n - 1) / 2));
}

TEST_F(CpuDeviceTest, PassesDynamicSharedMemoryOfEveryBlock) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  float* s = (float*)winnow_dynamic_shared();\n"
                     "  int t = threadIdx.x, n = blockDim.x;\n"
                     "  s[t] = blockIdx.x * 1000 + t;\n"
                     "  __syncthreads();\n"
                     "  y[blockIdx.x * n + t] = s[n - 1 - t];\n}",
                     64 * 100);
  auto steps = on_y(64, 100);
  std::get<tasks::LaunchStep>(steps[0]).shared_bytes = 400;
  EXPECT_FALSE(device->run(steps).has_value());
  const auto y = download<float>(*device, 0, 6400);
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y[i], static_cast<float>(i / 100 * 1000 + 99 - i % 100));
  }
}

TEST_F(CpuDeviceTest, HasNoLibraries) {
  auto device = load("__global__ void k(float* y) {}", 1);
  tasks::LibraryStep step;
  step.library = "cublaslt";
  EXPECT_THROW(device->run({step}), Error);
}

TEST_F(CpuDeviceTest, GivesWarpOperationsTheirLanes) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  unsigned t = threadIdx.x, warp = t / 32;\n"
                     "  if (t >= 40) return;\n" // lanes 8 to 31 of the second warp are gone
                     "  float r[8];\n"
                     "  r[0] = __builtin_popcount(__ballot_sync(~0u, t % 2));\n"
                     "  r[1] = __shfl_up_sync(~0u, (double)t, 1, 8);\n"
                     "  r[2] = __shfl_sync(~0u, (short)t, 3, 4);\n"
                     "  r[3] = __all_sync(~0u, 1) * 10 + __any_sync(~0u, t == 33);\n"
                     "  r[4] = __builtin_popcount(__match_any_sync(~0u, t / 4));\n"
                     "  r[5] = __reduce_add_sync(~0u, t);\n"
                     "  int same; __match_all_sync(~0u, warp, &same); r[6] = same;\n"
                     "  r[7] = t % 2 ? __builtin_popcount(__activemask()) : 0;\n"
                     "  for (int i = 0; i < 8; ++i) y[t * 8 + i] = r[i];\n}",
                     64 * 8);
  EXPECT_FALSE(device->run(on_y(1, 64)).has_value());
  const auto y = download<float>(*device, 0, 64 * 8);
  for (std::size_t t = 0; t < 40; ++t) {
    const bool first = t < 32;
    const auto r = [&](std::size_t i) { return y[t * 8 + i]; };
    EXPECT_EQ(r(0), first ? 16 : 4);
    EXPECT_EQ(r(1), static_cast<float>(t % 8 == 0 ? t : t - 1));
    EXPECT_EQ(r(2), static_cast<float>(t / 4 * 4 + 3));
    EXPECT_EQ(r(3), first ? 10 : 11);
    EXPECT_EQ(r(4), 4);
    EXPECT_EQ(r(5), first ? 496 : 32 * 8 + 28);
    EXPECT_EQ(r(6), 1);
    EXPECT_EQ(r(7), t % 2 == 0 ? 0 : first ? 16 : 4);
  }
}

TEST_F(CpuDeviceTest, ReducesPredicatesAtBarriers) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  int n = __syncthreads_count(threadIdx.x < 5);\n"
                     "  int a = __syncthreads_and(threadIdx.x < 100), o = __syncthreads_or(0);\n"
                     "  y[threadIdx.x] = n * 100 + a * 10 + o;\n}",
                     70);
  EXPECT_FALSE(device->run(on_y(1, 70)).has_value());
  EXPECT_THAT(download<float>(*device, 0, 70), testing::Each(510));
}

TEST_F(CpuDeviceTest, RunsThreeDimensionalBlocks) {
  for (const char* barrier : {"", "__syncthreads();"}) {
    auto device = load("__global__ void k(float* y) {\n"
                       "  int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
                       "  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + "
                       "threadIdx.x;\n" +
                           std::string(barrier) + "  y[b * 24 + t] += b * 24 + t;\n}",
                       24 * 24);
    tasks::LaunchStep step = launch_step("k", 1, 1, {buffer_argument("y")});
    step.grid = {2, 3, 4};
    step.block = {4, 2, 3};
    EXPECT_FALSE(device->run({step}).has_value());
    const auto y = download<float>(*device, 0, 576);
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(y[i], static_cast<float>(i)) << barrier;
    }
  }
}

TEST_F(CpuDeviceTest, SynchronisesACooperativeGrid) {
  auto device = load("__device__ int total;\n"
                     "__global__ void k(float* y) {\n"
                     "  atomicAdd(&total, 1);\n"
                     "  winnow_grid_sync(__builtin_LINE());\n"
                     "  y[blockIdx.x * blockDim.x + threadIdx.x] = total;\n}",
                     20 * 64);
  auto steps = on_y(20, 64);
  const auto refused = device->run(steps);
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->detail, HasSubstr("not cooperative"));
  device = nullptr;
  device = load("__device__ int total;\n"
                "__global__ void k(float* y) {\n"
                "  atomicAdd(&total, 1);\n"
                "  winnow_grid_sync(__builtin_LINE());\n"
                "  y[blockIdx.x * blockDim.x + threadIdx.x] = total;\n}",
                20 * 64);
  std::get<tasks::LaunchStep>(steps[0]).cooperative = true;
  EXPECT_FALSE(device->run(steps).has_value());
  EXPECT_THAT(download<float>(*device, 0, 20 * 64), testing::Each(20 * 64));
}

TEST_F(CpuDeviceTest, LetsSpinningThreadsWaitForOthersOfTheirBlock) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  volatile float* flag = y + 1;\n"
                     "  if (threadIdx.x == 0) { while (*flag == 0) __nanosleep(20); y[0] = 7; }\n"
                     "  else if (threadIdx.x == 63) { *flag = 1; }\n}",
                     2);
  EXPECT_FALSE(device->run(on_y(1, 64)).has_value());
  EXPECT_EQ(download<float>(*device, 0, 1)[0], 7);
}

TEST_F(CpuDeviceTest, FillsAndCopies) {
  auto device = load("__global__ void k(float* y) {}", 12);
  device->allocate("h", 16, false);
  tasks::FillStep fill;
  fill.buffer = "y";
  fill.offset_bytes = 8;
  fill.count = 3;
  fill.value = 2.5;
  tasks::FillStep half = fill;
  half.buffer = "h";
  half.offset_bytes = 0;
  half.count = 8;
  half.dtype = tasks::DType::F16;
  half.value = 1;
  tasks::CopyStep copy;
  copy.from = copy.to = "y";
  copy.from_offset_bytes = 8;
  copy.to_offset_bytes = 24;
  copy.row_bytes = 4;
  copy.rows = 2;
  copy.from_stride_bytes = 4;
  copy.to_stride_bytes = 8;
  EXPECT_FALSE(device->run({fill, half, copy}).has_value());
  EXPECT_THAT(download<float>(*device, 0, 12),
              testing::ElementsAre(0, 0, 2.5, 2.5, 2.5, 0, 2.5, 0, 2.5, 0, 0, 0));
  EXPECT_THAT(download<std::uint16_t>(*device, 1, 8), testing::Each(0x3c00));
}

TEST_F(CpuDeviceTest, ForgetsTheModuleBefore) {
  const std::string source = "__device__ int calls;\n"
                             "__global__ void k(float* y) { y[0] = ++calls; }";
  auto device = make();
  const auto path = build_module(source, {"k"});
  device->allocate("y", 4, false);
  for (int i = 0; i < 2; ++i) {
    device->load_module(path);
    EXPECT_FALSE(device->run(on_y(1, 1)).has_value());
    EXPECT_EQ(download<float>(*device, 0, 1)[0], 1);
  }
}

TEST_F(CpuDeviceTest, FindsBuffersInTheSelectedSet) {
  auto device = make();
  device->load_module(build_module("__global__ void k(float* y) { y[0] += 1; }", {"k"}));
  for (std::size_t set = 0; set < 2; ++set) {
    device->select_buffers(set, 0);
    upload(*device, device->allocate("y", 4, false),
           std::vector<float>{static_cast<float>(10 * set)});
  }
  EXPECT_FALSE(device->run(on_y(1, 1)).has_value());
  device->select_buffers(0, 0);
  EXPECT_FALSE(device->run(on_y(1, 1)).has_value());
  EXPECT_FALSE(device->run(on_y(1, 1)).has_value());
  device->select_buffers(2, 1);
  EXPECT_FALSE(device->run(on_y(1, 1)).has_value());
  EXPECT_EQ(download<float>(*device, 0, 1)[0], 2);
  EXPECT_EQ(download<float>(*device, 1, 1)[0], 12) << "the shared one, where a set has none";
  EXPECT_FALSE(device->verify_guards().has_value());
}

TEST_F(CpuDeviceTest, SeesBytesCopiedFromOneGuardToAnother) {
  auto device = make();
  device->load_module(build_module("__global__ void k(unsigned char* y, unsigned char* z) {\n"
                                   "  for (int i = 5; i < 16; ++i) y[i] = z[i]; }",
                                   {"k"}));
  device->allocate("y", 5, false);
  device->allocate("z", 5, false);
  EXPECT_FALSE(device->run({launch_step("k", 1, 1, {buffer_argument("y"), buffer_argument("z")})}));
  const auto fault = device->verify_guards();
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(fault->detail, testing::HasSubstr("buffer 'y' was written at byte"));
}

TEST_F(CpuDeviceTest, RefusesTooMuchSharedMemoryAndTooManyCooperativeBlocks) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  __shared__ float s[1024]; s[threadIdx.x] = y[0]; __syncthreads();\n"
                     "  y[1] = s[threadIdx.x ^ 1];\n}",
                     2);
  auto steps = on_y(300, 64);
  auto& launch = std::get<tasks::LaunchStep>(steps[0]);
  launch.cooperative = true;
  EXPECT_THAT(device->run(steps)->detail, testing::AllOf(HasSubstr("300"), HasSubstr("256")));
  launch.cooperative = false;
  launch.shared_bytes = cpu_device_facts().max_shared_bytes - 4095;
  const auto fault = device->run(steps);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->verdict, tasks::Verdict::LaunchError);
  EXPECT_THAT(fault->detail, HasSubstr("4096 bytes of static"));
}

// Wherever the C library puts the arguments, check mode must not take them for shared memory.
TEST(LaunchArguments, KnowWhereAKernelLoadsThemFrom) {
  const cpu::GuardedBuffers buffers;
  tasks::ResolvedArgument number;
  number.integer = 7;
  number.size_bytes = 4;
  const cpu::LaunchArguments arguments({number, number}, buffers);
  EXPECT_TRUE(arguments.contains(arguments.pointers()));
  EXPECT_TRUE(arguments.contains(arguments.pointers() + 1));
  EXPECT_TRUE(arguments.contains(arguments.pointers()[0]));
  EXPECT_TRUE(arguments.contains(arguments.pointers()[1]));
  EXPECT_FALSE(arguments.contains(&number));
  EXPECT_FALSE(arguments.contains(nullptr));
}

TEST_F(CpuDeviceTest, SaysWhatIsWrongWithAModule) {
  auto device = make();
  EXPECT_THROW(device->load_module("/nonexistent.so"), Error);
  EXPECT_THROW(device->load_module("/proc/self/exe"), Error);
}

} // namespace
} // namespace winnow::evaluators
