#include "evaluators/device/cpu/runtime/testing/test_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;

class CpuFaultTest : public CpuDeviceTest {
protected:
  /// The fault that run() returns for kernel k(float* y) of `source`.
  static DeviceFault fault_of(const std::string& source, std::int64_t blocks,
                              std::int64_t threads) {
    auto device = load(source, 1024);
    return device->run(on_y(blocks, threads)).value_or(DeviceFault{tasks::Verdict::Correct, ""});
  }
  /// Runs the kernel, which must end the process. Call it in a process of its own.
  static void run_to_death(const std::string& source, std::size_t count, std::int64_t blocks,
                           std::int64_t threads, int deadline_ms = 0) {
    (void)load(source, count, deadline_ms)->run(on_y(blocks, threads));
  }
};

TEST_F(CpuFaultTest, NamesBufferByteAndThreadOfAnOverrun) {
  EXPECT_EXIT(run_to_death("__global__ void k(float* y) {\n"
                           "  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;\n}",
                           1000, 4, 256),
              ExitedWithCode(kFaultExitCode),
              "out_of_bounds: thread \\(232,0,0\\) of block \\(3,0,0\\) of kernel 'k' writes "
              "outside of buffer 'y': byte 4000 of 4000 bytes");
}

TEST_F(CpuFaultTest, NamesAnOverrunInAKernelWithBarriers) {
  EXPECT_EXIT(run_to_death("__global__ void k(float* y) {\n"
                           "  float v = y[threadIdx.x]; __syncthreads();\n"
                           "  if (threadIdx.x == 5) v += y[-4 - (int)blockIdx.x * 4096];\n"
                           "  y[threadIdx.x] = v;\n}",
                           1024, 2, 64),
              ExitedWithCode(kFaultExitCode),
              "out_of_bounds: thread \\(5,0,0\\) of block \\(.,0,0\\) of kernel 'k' reads outside "
              "of buffer 'y': [0-9]+ bytes before its start");
}

TEST_F(CpuFaultTest, NamesAnInputThatIsWritten) {
  const auto death = [] {
    auto device = make();
    device->load_module(build_module("__global__ void k(float* x) {\n"
                                     "  if (threadIdx.x == 3) x[10] = 1;\n}",
                                     {"k"}));
    upload(*device, device->allocate("x", 400, true), std::vector<float>(100, 1));
    (void)device->run({launch_step("k", 1, 32, {buffer_argument("x")})});
  };
  EXPECT_EXIT(death(), ExitedWithCode(kFaultExitCode),
              "modified_input: thread \\(3,0,0\\).* writes input 'x' at byte 40");
}

TEST_F(CpuFaultTest, ExplainsNullPointers) {
  EXPECT_EXIT(run_to_death("__global__ void k(float* y) {\n"
                           "  float* volatile p = nullptr; p[threadIdx.x] = 1;\n}",
                           4, 1, 1),
              ExitedWithCode(kFaultExitCode), "writes through a null pointer");
}

TEST_F(CpuFaultTest, ExplainsMisalignedVectors) {
  EXPECT_EXIT(run_to_death("typedef float V __attribute__((vector_size(16)));\n"
                           "__global__ void k(float* y) { *(volatile V*)(y + 1) = V{1}; }",
                           64, 1, 1),
              ExitedWithCode(kFaultExitCode), "launch_error: .*misaligned");
}

TEST_F(CpuFaultTest, ExplainsEndlessRecursion) {
  EXPECT_EXIT(run_to_death("__device__ __attribute__((noinline)) float f(float v) {\n"
                           "  volatile float a[64]; a[0] = v; return f(v + 1) + a[0];\n}\n"
                           "__global__ void k(float* y) { y[0] = f(0); __syncthreads(); }",
                           64, 1, 32),
              ExitedWithCode(kFaultExitCode), "crashed: .*overflows its stack");
}

TEST_F(CpuFaultTest, ExplainsIntegerDivisionByZero) {
  EXPECT_EXIT(run_to_death("__global__ void k(float* y) {\n"
                           "  volatile int zero = 0; y[0] = (int)threadIdx.x / zero;\n}",
                           64, 1, 1),
              ExitedWithCode(kFaultExitCode), "crashed: .*divides an integer by zero");
}

TEST_F(CpuFaultTest, ExplainsDynamicSharedMemoryThatIsTooSmall) {
  EXPECT_EXIT(
      run_to_death("__global__ void k(float* y) {\n"
                   "  float* s = (float*)winnow_dynamic_shared();\n"
                   "  s[threadIdx.x] = 1; __syncthreads(); y[0] = s[0];\n}",
                   64, 1, 32),
      ExitedWithCode(kFaultExitCode),
      "out_of_bounds: thread \\(0,0,0\\).* outside of dynamic shared memory: byte 0 of 0 bytes");
}

TEST_F(CpuFaultTest, ReportsWhereAnEndlessKernelIs) {
  EXPECT_EXIT(run_to_death("__global__ void k(float* y) {\n"
                           "  volatile float* v = y; __syncthreads();\n"
                           "  while (threadIdx.x == 7 && v[0] == 0) {}\n}",
                           64, 1, 32, 200),
              ExitedWithCode(kFaultExitCode),
              "timeout: ran longer than 200 ms; now in thread \\(7,0,0\\) of block \\(0,0,0\\) of "
              "kernel 'k'");
}

TEST_F(CpuFaultTest, FindsSmallOverrunsBehindOddSizes) {
  auto device = load("__global__ void k(float* y) { y[threadIdx.x] = 1; }", 5);
  EXPECT_FALSE(device->run(on_y(1, 6)).has_value());
  const auto fault = device->verify_guards();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->verdict, tasks::Verdict::OutOfBounds);
  EXPECT_THAT(fault->detail, HasSubstr("'y' was written at byte 20 of 20 bytes"));
}

TEST_F(CpuFaultTest, NamesWhoWaitsWhereInADeadlock) {
  const auto fault = fault_of("__global__ void k(float* y) {\n"
                              "  if (threadIdx.x >= 128) return;\n"
                              "  if (threadIdx.x < 100) {\n"
                              "    __syncthreads();\n"
                              "  } else {\n"
                              "    y[0] = __shfl_sync(0xffffffff, y[0], 0);\n"
                              "  }\n}",
                              2, 256);
  EXPECT_EQ(fault.verdict, tasks::Verdict::LaunchError);
  EXPECT_THAT(fault.detail,
              AllOf(HasSubstr("deadlock in block"),
                    HasSubstr("100 of 256 threads, e.g. (0,0,0), wait at line 4 in __syncthreads"),
                    HasSubstr("28 of 256 threads, e.g. (100,0,0), wait at line 6 in __shfl_sync "
                              "with mask 0xffffffff"),
                    HasSubstr("128 have exited")));
}

TEST_F(CpuFaultTest, ExplainsWrongMasks) {
  EXPECT_THAT(fault_of("__global__ void k(float* y) {\n"
                       "  y[0] = __shfl_sync(0xff, y[0], 0);\n}",
                       1, 32)
                  .detail,
              AllOf(HasSubstr("(8,0,0)"), HasSubstr("leaves out its own lane 8")));
  EXPECT_THAT(fault_of("__global__ void k(float* y) {\n"
                       "  if (threadIdx.x < 16) __syncwarp();\n"
                       "  else y[0] = __shfl_sync(~0u, y[0], 0);\n}",
                       1, 32)
                  .detail,
              AllOf(HasSubstr("line 3"), HasSubstr("__syncwarp"), HasSubstr("line 2")));
}

TEST_F(CpuFaultTest, ReportsTrapsAndAssertions) {
  for (const char* barrier : {"", "__syncthreads();"}) {
    const std::string source = "__global__ void k(float* y) {\n" + std::string(barrier) +
                               "\n  assert(threadIdx.x != 9);\n}";
    const auto fault = fault_of(source, 1, 32);
    EXPECT_EQ(fault.verdict, tasks::Verdict::LaunchError);
    EXPECT_THAT(fault.detail, AllOf(HasSubstr("line 3: assertion failed: threadIdx.x != 9")));
  }
}

TEST_F(CpuFaultTest, StopsEndlessPrinting) {
  testing::internal::CaptureStderr();
  const auto fault = fault_of("__global__ void k(float* y) {\n"
                              "  for (;;) printf(\"%f of many\\n\", y[0]);\n}",
                              1, 1);
  EXPECT_LT(testing::internal::GetCapturedStderr().size(), 100U << 10);
  EXPECT_EQ(fault.verdict, tasks::Verdict::OverLimit);
  EXPECT_THAT(fault.detail, HasSubstr("prints more than"));
}

TEST_F(CpuFaultTest, PrintingStoresNothing) {
  const auto fault = fault_of("__global__ void k(float* y) {\n"
                              "  printf(\"100 %% %08.3f %hhn\", y[0], (signed char*)y);\n}",
                              1, 1);
  EXPECT_EQ(fault.verdict, tasks::Verdict::LaunchError);
  EXPECT_THAT(fault.detail, HasSubstr("prints with %n"));
}

TEST_F(CpuFaultTest, CanRunAgainAfterADeadlock) {
  auto device = load("__global__ void k(float* y) {\n"
                     "  if (y[0] == 0 && threadIdx.x == 0) __syncwarp(3);\n"
                     "  __syncthreads(); y[0] = 1;\n}",
                     4);
  EXPECT_TRUE(device->run(on_y(1, 64)).has_value());
  upload(*device, 0, std::vector<float>{1, 0, 0, 0});
  EXPECT_FALSE(device->run(on_y(1, 64)).has_value());
}

} // namespace
} // namespace winnow::evaluators
