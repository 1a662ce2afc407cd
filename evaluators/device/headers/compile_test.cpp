// Tests which code compiles, and which code is reported as unsupported at the candidate's own line.
#include "evaluators/device/headers/sample_build.h"
#include "evaluators/device/headers/unsupported_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

std::string includes_of(const std::filesystem::path& root) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const auto name = std::filesystem::relative(entry.path(), root).string();
    bool skip = !entry.is_regular_file() || entry.path().extension() == ".inc" || name == "abi.h" ||
                name == "winnow_entry.h";
    for (const auto& unsupported : kUnsupportedHeaders) {
      skip = skip || name == unsupported.path;
    }
    if (!skip) {
      text += fmt::format("#include <{}>\n", name);
    }
  }
  return text;
}

class Compile : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    if (!has_program(GetParam())) {
      GTEST_SKIP() << GetParam() << " is not installed";
    }
    build_ =
        &sample_build(GetParam(), GetParam() == std::string("clang++") ? "-ferror-limit=0" : "");
  }
  /// Expects the first error to name the construct, at the given line of the candidate.
  void expect_unsupported(const std::string& text, int line, const std::string& construct) {
    const auto outcome = build_->compile("candidate.cu", text);
    EXPECT_FALSE(outcome.ok) << text;
    const auto error = outcome.log.find("error:");
    ASSERT_NE(error, std::string::npos) << outcome.log;
    const auto begin = outcome.log.rfind('\n', error) + 1;
    const auto first = outcome.log.substr(begin, outcome.log.find('\n', error) - begin);
    EXPECT_THAT(first, HasSubstr(fmt::format("candidate.cu:{}:", line)));
    EXPECT_THAT(first, HasSubstr("winnow-unsupported: " + construct));
  }

  SampleBuild* build_ = nullptr;
};

TEST_P(Compile, EveryHeaderTogetherWithoutAWarning) {
  const auto outcome = build_->compile("all.cu", includes_of(build_->headers() / "common") +
                                                     includes_of(build_->headers() / "cpu"));
  EXPECT_TRUE(outcome.ok) << outcome.log;
  EXPECT_EQ(outcome.log, "");
}

TEST_P(Compile, UnsupportedConstructsNameThemselvesAndTheLine) {
  expect_unsupported(
      "__global__ void k(int* p) {\n  asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(p[0]));\n}", 2,
      "asm (inline PTX)");
  expect_unsupported("__global__ void k() {\n\n  __asm__ volatile(\"bar.sync 0;\");\n}", 3,
                     "asm (inline PTX)");
  expect_unsupported("__global__ void k(float* p,\n                  cudaTextureObject_t t) {}", 2,
                     "cudaTextureObject_t (textures)");
  expect_unsupported("__global__ void k(const __grid_constant__ CUtensorMap map) {}", 1,
                     "CUtensorMap (TMA)");
  expect_unsupported("__global__ void __cluster_dims__(2, 1, 1) k() {}", 1, "__cluster_dims__");
  expect_unsupported("#include <cooperative_groups.h>\n__global__ void k() {\n"
                     "  auto c = cooperative_groups::this_cluster();\n}",
                     3, "cooperative groups cluster");
  expect_unsupported("__global__ void k(void** p) {\n  *p = malloc(4);\n}", 2, "malloc");
  expect_unsupported("#include <curand_kernel.h>\n__global__ void k(curandState* s) {}", 2,
                     "curandState (XORWOW");
}

TEST_P(Compile, InactiveCodeIsNotUnsupported) {
  const auto outcome = build_->compile("candidate.cu", "#if __CUDA_ARCH__ >= 900\n"
                                                       "__device__ void f() { asm(\"x\"); }\n"
                                                       "#endif\n");
  EXPECT_TRUE(outcome.ok) << outcome.log;
}

TEST_P(Compile, UnsupportedHeadersNameTheLibrary) {
  std::string text;
  for (const auto& header : kUnsupportedHeaders) {
    text += fmt::format("#include <{}>\n", header.path);
  }
  const auto outcome = build_->compile("candidate.cu", text);
  EXPECT_FALSE(outcome.ok);
  for (const auto& header : kUnsupportedHeaders) {
    EXPECT_THAT(outcome.log, HasSubstr(fmt::format("winnow-unsupported: <{}> ({})", header.path,
                                                   header.feature)));
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, Compile, testing::Values("clang++", "g++"),
                         [](const auto& test) {
                           return test.param == std::string("g++") ? "Gcc" : "Clang";
                         });

} // namespace
} // namespace winnow::evaluators
