// Compiles kernels and runs the modules on the CPU device.
#include "evaluators/device/compile/testing/fresh_cache.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/cpu_device.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

struct Launch {
  std::string kernel;
  std::int64_t blocks = 1;
  std::int64_t threads = 1;
  std::int64_t shared_bytes = 0;
};

// All kernels here have the parameters (const float* x, float* y, int n).
class CompiledKernel : public testing::TestWithParam<std::tuple<const char*, BuildMode>> {
protected:
  void SetUp() override {
    const Availability availability = probe_cpu_compiler(std::get<0>(GetParam()));
    if (!availability.ok) {
      GTEST_SKIP() << availability.why;
    }
  }

  std::vector<float> run(CompileRequest request, const Launch& launch,
                         const std::vector<float>& input) {
    const FreshCache cache;
    CpuCompilerOptions options;
    options.cache = cache.path();
    options.compiler = std::get<0>(GetParam());
    request.file = "test.cu";
    request.kernels = {launch.kernel};
    request.mode = std::get<1>(GetParam());
    const CompileResult built =
        make_cpu_compiler(process::Sandbox::best(), options)->compile(request);
    EXPECT_EQ(built.verdict, Verdict::Correct) << built.detail;
    if (built.verdict != Verdict::Correct) {
      return {};
    }
    const auto device = make_cpu_device({});
    device->load_module(built.module);
    const std::size_t bytes = input.size() * sizeof(float);
    const std::size_t x = device->allocate("x", bytes, true);
    const std::size_t y = device->allocate("y", bytes, false);
    device->upload(x, std::as_bytes(std::span(input)));
    const auto fault = device->run({step(launch, static_cast<std::int64_t>(input.size()))});
    EXPECT_FALSE(fault) << fault->detail;
    for (const CheckFinding& finding : device->findings()) {
      ADD_FAILURE() << finding.detail;
    }
    std::vector<float> output(input.size());
    device->download(y, std::as_writable_bytes(std::span(output)));
    return output;
  }

private:
  static tasks::LaunchStep step(const Launch& launch, std::int64_t n) {
    tasks::LaunchStep step;
    step.kernel = launch.kernel;
    step.grid = {launch.blocks, 1, 1};
    step.block = {launch.threads, 1, 1};
    step.shared_bytes = launch.shared_bytes;
    for (const char* buffer : {"x", "y"}) {
      tasks::ResolvedArgument pointer;
      pointer.kind = tasks::ResolvedArgument::Kind::Pointer;
      pointer.buffer = buffer;
      pointer.size_bytes = 8;
      step.arguments.push_back(pointer);
    }
    tasks::ResolvedArgument count;
    count.integer = n;
    count.size_bytes = 4;
    step.arguments.push_back(count);
    return step;
  }
};

INSTANTIATE_TEST_SUITE_P(Compilers, CompiledKernel,
                         testing::Combine(testing::Values("g++", "clang++"),
                                          testing::Values(BuildMode::Plain, BuildMode::Check)),
                         [](const auto& test) {
                           const bool gxx = std::string(std::get<0>(test.param)) == "g++";
                           const bool check = std::get<1>(test.param) == BuildMode::Check;
                           return std::string(gxx ? "gxx" : "clangxx") +
                                  (check ? "Check" : "Plain");
                         });

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i % 37) - 18.0F;
  }
  return values;
}

TEST_P(CompiledKernel, Softmax) {
  CompileRequest request;
  request.source = R"(
template <int BLOCK> __global__ void softmax(const float* __restrict__ x, float* y, int n) {
  __shared__ alignas(16) float part[BLOCK];
  float top = -INFINITY;
  for (int i = threadIdx.x; i < n; i += BLOCK) top = fmaxf(top, x[i]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += BLOCK) sum += expf(x[i] - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = expf(x[i] - top) / part[0];
}
)";
  const std::vector<float> input = ramp(1001);
  const std::vector<float> output = run(request, {"softmax<128>", 1, 128, 0}, input);
  ASSERT_EQ(output.size(), input.size());
  double sum = 0;
  for (const float value : input) {
    sum += std::exp(static_cast<double>(value) - 18.0);
  }
  for (std::size_t i = 0; i < input.size(); ++i) {
    EXPECT_NEAR(output[i], std::exp(static_cast<double>(input[i]) - 18.0) / sum, 1e-6);
  }
}

// For kernels that reverse each block's elements through dynamic shared memory. They declare it in
// different ways.
void expect_reversed(const std::vector<float>& input, const std::vector<float>& output) {
  ASSERT_EQ(output.size(), input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    EXPECT_EQ(output[i], input[i / 64 * 64 + 63 - i % 64]) << i;
  }
}

TEST_P(CompiledKernel, DynamicSharedMemoryInAFunction) {
  CompileRequest request;
  request.source = "__global__ void k(const float* x, float* y, int n) {\n"
                   "  extern __shared__ __align__(16) float s[];\n"
                   "  int i = blockIdx.x * 64 + threadIdx.x;\n  s[threadIdx.x] = x[i];\n"
                   "  __syncthreads();\n  y[i] = s[63 - threadIdx.x];\n}\n";
  const std::vector<float> input = ramp(256);
  expect_reversed(input, run(request, {"k", 4, 64, 256}, input));
}

TEST_P(CompiledKernel, DynamicSharedMemoryAtFileScope) {
  CompileRequest request;
  request.source = "namespace a { extern __shared__ unsigned char raw[]; }\n"
                   "__device__ float* tile() { return reinterpret_cast<float*>(a::raw); }\n"
                   "__global__ void k(const float* x, float* y, int n) {\n"
                   "  int i = blockIdx.x * 64 + threadIdx.x;\n  tile()[threadIdx.x] = x[i];\n"
                   "  __syncthreads();\n  y[i] = tile()[63 - threadIdx.x];\n}\n";
  const std::vector<float> input = ramp(256);
  expect_reversed(input, run(request, {"k", 4, 64, 256}, input));
}

TEST_P(CompiledKernel, DynamicSharedMemoryOfTwoDimensions) {
  CompileRequest request;
  request.source = "template <typename T> __global__ void k(const T* x, T* y, int n) {\n"
                   "  extern __shared__ T s[][8];\n"
                   "  int t = threadIdx.x, i = blockIdx.x * 64 + t;\n  s[t / 8][t % 8] = x[i];\n"
                   "  __syncthreads();\n  y[i] = s[7 - t / 8][7 - t % 8];\n}\n";
  const std::vector<float> input = ramp(256);
  expect_reversed(input, run(request, {"k<float>", 4, 64, 256}, input));
}

TEST_P(CompiledKernel, FastMathKeepsInfinity) {
  CompileRequest request;
  request.source = "__global__ void k(const float* x, float* y, int n) {\n"
                   "  float top = -INFINITY;\n  for (int i = 0; i < 0; ++i) top = x[i];\n"
                   "  y[threadIdx.x] = isinf(top) && x[0] > top ? 1.0f : 0.0f;\n}\n";
  request.fast_math = true;
  EXPECT_EQ(run(request, {"k", 1, 4, 0}, ramp(4)), std::vector<float>(4, 1.0F));
}

TEST_P(CompiledKernel, ConstantTablesAndParameters) {
  CompileRequest request;
  request.source = "__constant__ float table[STEP] = {1.0f, 2.0f, 4.0f};\n"
                   "__device__ float scale = 0.5f;\n"
                   "__global__ void k(const float* x, float* y, int n) {\n"
                   "  y[threadIdx.x] = x[threadIdx.x] * table[threadIdx.x % STEP] * scale;\n}\n";
  request.parameters = {{"STEP", 3}};
  EXPECT_EQ(run(request, {"k", 1, 4, 0}, {2, 2, 2, 6}), (std::vector<float>{1, 2, 4, 3}));
}

} // namespace
} // namespace winnow::evaluators
