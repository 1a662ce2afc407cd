// Tests the GPU compiler with hiprtc. Needs ROCm's runtime library, but no GPU.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/hip/compile/hiprtc.h"
#include "evaluators/device/hip/hip_driver.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "process/sandbox.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using testing::HasSubstr;
using testing::StartsWith;

class HipCompilerTest : public testing::Test {
protected:
  void SetUp() override {
    const Availability availability = probe_hiprtc();
    if (!availability.ok) {
      GTEST_SKIP() << availability.why;
    }
  }

  CompileResult compile(const std::string& source, std::vector<std::string> kernels = {"k"}) const {
    GpuCompilerOptions options;
    options.vendor = &kHipVendor;
    options.architecture = "gfx90a";
    options.cache = cache_.path();
    CompileRequest request;
    request.file = "test.cu";
    request.source = source;
    request.kernels = std::move(kernels);
    request.parameters = {{"BLOCK", 128}};
    request.constants = {"sizeof(double) * BLOCK"};
    return make_gpu_compiler(process::Sandbox::best(), options)->compile(request);
  }

  TemporaryDirectory cache_{"hip-compile-test"};
};

const char* const kScale = R"(#include <cuda_runtime.h>
#include <cuda_fp16.h>
template <int B, typename T>
__global__ void k(const T* __restrict__ x, float* y, __half* h, int n, bool flag) {
  __shared__ float part[B];
  part[threadIdx.x] = x[blockIdx.x * B + threadIdx.x];
  __syncthreads();
  if (flag) y[n] = part[B - 1 - threadIdx.x];
}
)";

TEST_F(HipCompilerTest, CompilesTemplatesAndReadsWhatTheyAre) {
  const CompileResult result = compile(kScale, {"k<BLOCK, float>", "k<64, double>"});
  ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
  EXPECT_EQ(tasks::encode_parameters(result.facts.signatures.at(0).parameters),
            "p4fc:x p4f:y p2f:h i4:n b1:flag");
  EXPECT_EQ(result.facts.constants.at("sizeof(double) * BLOCK"), 1024);
  ASSERT_EQ(result.build.kernels.size(), 2U);
  EXPECT_EQ(result.build.kernels[0].static_shared_bytes, 512);
  EXPECT_EQ(result.build.kernels[1].static_shared_bytes, 256);
  EXPECT_GT(result.build.kernels[0].registers, 0);
  const GpuModuleFile module = read_gpu_module(result.module);
  EXPECT_EQ(module.architecture, "gfx90a");
  EXPECT_THAT(module.symbols.at("k<BLOCK, float>"), StartsWith("_Z1k"));
}

TEST_F(HipCompilerTest, PlacesErrorsInTheCandidatesLines) {
  const CompileResult result =
      compile("__global__ void k(float* x) {\n  x[threadIdx.x] = undefined_thing;\n}\n");
  EXPECT_EQ(result.verdict, Verdict::CompileError);
  EXPECT_THAT(result.detail, StartsWith("test.cu:2:"));
  EXPECT_THAT(result.detail, HasSubstr("undefined_thing"));
}

TEST_F(HipCompilerTest, TheDigestCoversWhateverAKernelCanRead) {
  const std::string kernel = "__global__ void k(float* x) { x[0] = a * x[1] + b; }\n";
  std::set<std::string> digests;
  for (const char* variables :
       {"__device__ float a = 1, b = 2; ", "__device__ float a = 2, b = 1; ",
        "__device__ float b = 1, a = 2; ", "__device__ float a = 1, b; ",
        "__device__ float a = 1, b, c[2]; "}) {
    const CompileResult result = compile(variables + kernel);
    ASSERT_EQ(result.verdict, Verdict::Correct) << result.detail;
    EXPECT_TRUE(digests.insert(result.build.machine_code_digest).second) << variables;
  }
}

TEST_F(HipCompilerTest, KnowsTheSameMachineCode) {
  const CompileResult first = compile("__global__ void k(float* x) { x[0] = 2.f * x[0]; }");
  const CompileResult same = compile("// other\n__global__ void k(float* x) { x[0] += x[0]; }");
  ASSERT_EQ(first.verdict, Verdict::Correct) << first.detail;
  EXPECT_EQ(first.build.machine_code_digest, same.build.machine_code_digest);
}

TEST_F(HipCompilerTest, RefusesArchitecturesThatWouldEndTheProcess) {
  GpuCompilerOptions options;
  options.vendor = &kHipVendor;
  options.architecture = "gfx9999";
  options.cache = cache_.path();
  EXPECT_THROW(make_gpu_compiler(process::Sandbox::best(), options), Error);
}

} // namespace
} // namespace winnow::evaluators
