#include "evaluators/device/source/source_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTemplateKernel =
    "template <int B>\n__global__ void k(float* x, int n) { x[n] = B; }\n";

TranslatedSource assemble(const std::string& source, std::vector<std::string> constants = {}) {
  HeaderRules rules;
  rules.names = {"math.h"};
  rules.also = [](const std::string& header) {
    return header == "cub/cub.cuh" || header == "cooperative_groups.h";
  };
  rules.refusal = [](const std::string& header) {
    return header == "cute/tensor.hpp" ? "no CuTe here" : std::string();
  };
  return translate_source(
      {source, {{"BLOCK", 128}}, {"k<BLOCK>"}, std::move(constants), rules, "winnow_cuda.h"});
}

TEST(GpuSource, PutsThePartsInOrder) {
  const TranslatedSource result =
      assemble("#include \"math.h\"\n" + kTemplateKernel, {"sizeof(int)"});
  ASSERT_FALSE(result.mistake) << result.mistake->what;
  EXPECT_EQ(result.translated, "#include \"winnow_cuda.h\"\n"
                               "constexpr int BLOCK = 128;\n"
                               "#line 1 \"winnow_candidate.cu\"\n"
                               "#include <math.h>\n" +
                                   kTemplateKernel +
                                   "\n#line 1 \"winnow_module\"\n"
                                   "#include \"winnow_entry.h\"\n"
                                   "#line 1 \"winnow_plan\"\n"
                                   "WINNOW_SIGNATURE(0, \"x\\0n\\0\", k<BLOCK>)\n"
                                   "#line 2 \"winnow_plan\"\n"
                                   "WINNOW_CONSTANT(0, sizeof(int))\n");
}

TEST(GpuSource, LetsTheVendorsHeadersThroughAndNoOther) {
  EXPECT_THAT(assemble("#include <cub/cub.cuh>\n" + kTemplateKernel).translated,
              HasSubstr("#include <cub/cub.cuh>\n"));
  for (const char* header : {"/etc/passwd", "cub/../cub/cub.cuh", "nothing.h"}) {
    const TranslatedSource result =
        assemble("#include \"" + std::string(header) + "\"\n" + kTemplateKernel);
    ASSERT_TRUE(result.mistake) << header;
    EXPECT_EQ(result.mistake->line, 1);
    EXPECT_EQ(result.translated, "");
  }
  EXPECT_EQ(assemble("#include <cute/tensor.hpp>\n" + kTemplateKernel).mistake->what,
            "no CuTe here");
}

TEST(GpuSource, KeepsPtx) {
  EXPECT_THAT(
      assemble("__device__ void f() { __asm volatile(\"nop;\"); }\n" + kTemplateKernel).translated,
      HasSubstr("__asm volatile(\"nop;\");"));
}

TEST(GpuSource, FindsMistakesInPlans) {
  EXPECT_THAT(assemble("__global__ void other() {}\n").mistake->what,
              HasSubstr("launches kernel 'k'"));
  for (const char* constant : {"", "1; int x = 2", "\"text\"", "1\n2", "#x"}) {
    EXPECT_TRUE(assemble(kTemplateKernel, {constant}).mistake) << constant;
  }
}

} // namespace
} // namespace winnow::evaluators
