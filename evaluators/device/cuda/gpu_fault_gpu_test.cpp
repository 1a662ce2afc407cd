// Tests kernels that destroy their context, each in a process of its own.
#include "evaluators/device/cuda/cuda_gpu_test.h"

#include <cstdio>

#include <unistd.h>

namespace winnow::evaluators {
namespace {

struct BrokenKernel {
  const char* name;
  const char* body;    ///< body of __global__ void k(float* y)
  const char* message; ///< regular expression: verdict and explanation
};

void PrintTo(const BrokenKernel& kernel, std::ostream* out) {
  *out << kernel.name;
}

class CudaFaultDeathTest : public CudaGpuTest, public testing::WithParamInterface<BrokenKernel> {
protected:
  /// Runs the kernel and ends the process, with kFaultExitCode if the fault was reported correctly.
  [[noreturn]] void run_broken() {
    const std::string source =
        "#include <assert.h>\n#include <stdio.h>\n__global__ void k(float* y) {" +
        std::string(GetParam().body) + "}";
    const auto device = open(source, {"k"}, std::chrono::milliseconds(1500));
    put(*device, "y", std::vector<float>(64, 0));
    const std::vector<tasks::Step> steps{step("k", 2, 32, {pointer("y")})};
    const auto fault = device->run(steps);
    std::fprintf(stderr, "%s\n", text_of(fault).c_str());
    if (!fault || device->usable()) {
      std::fprintf(stderr, "the device is still usable\n");
      _exit(1);
    }
    expect_dead(*device, steps);
    _exit(kFaultExitCode);
  }

private:
  static void expect_dead(Device& device, const std::vector<tasks::Step>& steps) {
    try {
      device.run(steps);
      std::fprintf(stderr, "a dead device runs\n");
      _exit(2);
    } catch (const Error&) {
      device.release_buffers(); // like stack unwinding
    }
  }
};

TEST_P(CudaFaultDeathTest, IsReportedWithTheKernelsName) {
  const std::string expected = std::string(GetParam().message);
  EXPECT_EXIT(run_broken(), testing::ExitedWithCode(kFaultExitCode), expected);
}

// If hardware may react in several ways, the regular expression allows all of them.
INSTANTIATE_TEST_SUITE_P(
    Kernels, CudaFaultDeathTest,
    testing::Values(
        BrokenKernel{"WildPointer", "*(volatile float*)0x10 = 1;",
                     "out_of_bounds: kernel 'k' .grid 2x1x1, block 32x1x1. accessed an address "
                     "outside of all buffers: .*CUDA_ERROR_ILLEGAL_ADDRESS"},
        BrokenKernel{"NullRead", "y[0] = *(volatile float*)0;", "out_of_bounds: kernel 'k'"},
        BrokenKernel{"FarWrite", "y[1ll << 40] = 1;", "out_of_bounds: kernel 'k'"},
        BrokenKernel{"Misaligned", "*(volatile int*)((char*)y + 1) = 1;",
                     "crashed: kernel 'k' .*CUDA_ERROR_MISALIGNED_ADDRESS"},
        BrokenKernel{"Assertion", "assert(y == nullptr);",
                     "launch_error: kernel 'k' .* failed an assertion: .*CUDA_ERROR_ASSERT"},
        BrokenKernel{"Trap", "__trap();", "launch_error: kernel 'k' .* was stopped by a trap"},
        BrokenKernel{"SharedOverrun",
                     "__shared__ volatile float s[32];"
                     "for (int i = 0; i < 1 << 26; i += 32) s[i + threadIdx.x] = 1;",
                     "(launch_error|out_of_bounds): kernel 'k'"},
        BrokenKernel{"EndlessLoop", "while (*(volatile float*)y == 0) {}",
                     "timeout: ran longer than 1500 ms; now in kernel 'k'"},
        BrokenKernel{"EndlessPrintf",
                     "while (*(volatile float*)y == 0) printf(\"%f\\n\", y[threadIdx.x]);",
                     "timeout: ran longer than 1500 ms; now in kernel 'k'"}),
    [](const auto& test) { return std::string(test.param.name); });

class CudaTimedFaultDeathTest : public CudaGpuTest {
protected:
  [[noreturn]] void run_timed_broken(const std::string& body) {
    const auto device =
        open("__global__ void k(float* y) {" + body + "}", {"k"}, std::chrono::milliseconds(1500));
    put(*device, "y", std::vector<float>(64, 0));
    const auto fault = device->run_timed({step("k", 2, 32, {pointer("y")})});
    std::fprintf(stderr, "%s\n", text_of(fault).c_str());
    _exit(fault && !device->usable() ? kFaultExitCode : 1);
  }
};

TEST_F(CudaTimedFaultDeathTest, IsReportedWhileTiming) {
  EXPECT_EXIT(run_timed_broken("*(volatile float*)0x10 = 1;"),
              testing::ExitedWithCode(kFaultExitCode), "out_of_bounds: kernel 'k'");
}

TEST_F(CudaTimedFaultDeathTest, EndsAtTheDeadlineWhileTiming) {
  EXPECT_EXIT(run_timed_broken("while (*(volatile float*)y == 0) {}"),
              testing::ExitedWithCode(kFaultExitCode), "timeout: .* now in kernel 'k'");
}

} // namespace
} // namespace winnow::evaluators
