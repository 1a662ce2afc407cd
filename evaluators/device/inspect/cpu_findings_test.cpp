#include "evaluators/device/compile/testing/fresh_cache.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Finding;
using tasks::FindingKind;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Every test runs with each installed compiler.
class CpuFindings : public testing::TestWithParam<const char*> {
protected:
  std::vector<Finding> find(const std::string& globals, const std::string& body,
                            BuildMode mode = BuildMode::Plain) const {
    CpuCompilerOptions options;
    options.cache = cache_.path();
    options.compiler = GetParam();
    CompileRequest request;
    request.file = "test.cu";
    request.mode = mode;
    request.kernels = {"k"};
    request.source = globals + "\n__global__ void k(float* p, int i) {\n" + body + "\n}\n";
    const CompileResult result =
        make_cpu_compiler(process::Sandbox::best(), options)->compile(request, {});
    EXPECT_EQ(result.verdict, tasks::Verdict::Correct) << result.detail;
    return result.build.findings;
  }

  void SetUp() override {
    const Availability availability = probe_cpu_compiler(GetParam());
    if (!availability.ok) {
      GTEST_SKIP() << GetParam() << ": " << availability.why;
    }
  }

  FreshCache cache_;
};

TEST_P(CpuFindings, NamesMutableGlobals) {
  EXPECT_THAT(
      find("namespace a { __device__ int counter; } __device__ double sums[8] = {1};",
           "static __device__ float last; a::counter++; sums[i] += p[i];"
           "p[i] = last + a::counter + sums[0]; last = p[0];"),
      UnorderedElementsAre(Finding{FindingKind::MutableGlobal, "a::counter (4 bytes)"},
                           Finding{FindingKind::MutableGlobal, "sums (64 bytes)"},
                           Finding{FindingKind::MutableGlobal, "k(float*, int)::last (4 bytes)"}));
}

TEST_P(CpuFindings, NamesClockAndSleep) {
  EXPECT_THAT(find("", "p[i] = clock64();"),
              ElementsAre(Field(&Finding::kind, FindingKind::ClockRead)));
  EXPECT_THAT(find("", "__nanosleep(100);"),
              ElementsAre(Field(&Finding::kind, FindingKind::Nanosleep)));
}

TEST_P(CpuFindings, HasNoFalseAlarms) {
  for (const BuildMode mode : {BuildMode::Plain, BuildMode::Check}) {
    EXPECT_THAT(find("// static __device__ int counter; clock64(); __nanosleep(1);\n"
                     "__device__ const float table[4] = {1, 2, 3, 4};\n"
                     "static constexpr float more[4] = {4, 3, 2, 1};\n"
                     "__constant__ float bank[4] = {5, 6, 7, 8};\n",
                     "__shared__ float tile[64]; static constexpr float local[4] = {7, 6, 5, 4};\n"
                     "tile[threadIdx.x] = p[i]; __syncthreads();\n"
                     "if (i == 77) printf(\"%s %d\", \"clock()\", i);\n"
                     "p[i] = table[i & 3] + more[i & 3] + bank[i & 3] + local[i & 3] + tile[i];",
                     mode),
                IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, CpuFindings, testing::Values("g++", "clang++"),
                         [](const auto& test) {
                           return std::string(test.param) == "g++" ? "gxx" : "clangxx";
                         });

} // namespace
} // namespace winnow::evaluators
