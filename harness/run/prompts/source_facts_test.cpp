#include "harness/run/prompts/source_facts.h"

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

constexpr const char* kFile = R"cu(/*@winnow
{ "params": { "BLOCK": [64, 128] },
  "launches": [ { "kernel": "sum", "grid": ["ceil_div(n, BLOCK)"], "block": ["BLOCK"],
                  "args": ["x", "y", "n"] } ] }
@*/
// for (;;) __syncthreads();
__global__ void sum(const float* x, float* y, int n) {
  __shared__ float part[128];
  for (int i = 0; i < n; ++i) {
    float4 v = *(const float4*)(x + 4 * i);
    if (v.x > 0) { atomicAdd(y, __shfl_down_sync(~0u, v.x, 1)); }
  }
  __syncthreads();
})cu";

TEST(SourceFacts, CountClassesOfOperationsAndNoComments) {
  const auto facts = source_facts(kFile);
  EXPECT_EQ(facts.at("shared arrays"), 1);
  EXPECT_EQ(facts.at("barriers"), 1);
  EXPECT_EQ(facts.at("loops"), 1);
  EXPECT_EQ(facts.at("branches"), 1);
  EXPECT_EQ(facts.at("vector types"), 2);
  EXPECT_EQ(facts.at("atomics"), 1);
  EXPECT_EQ(facts.at("warp operations"), 1);
  EXPECT_EQ(facts.at("matrix operations"), 0);
  EXPECT_EQ(facts.at("inline assembly"), 0);
  EXPECT_EQ(facts.at("launches"), 1);
  EXPECT_EQ(facts.at("parameters"), 1);
}

TEST(SourceFacts, OtherNamesAndCommentsChangeNothing) {
  std::string renamed = kFile;
  for (std::size_t at = renamed.find("part"); at != std::string::npos; at = renamed.find("part")) {
    renamed.replace(at, 4, "tile /* the tile */");
  }
  EXPECT_EQ(source_facts(renamed), source_facts(kFile));
}

TEST(SourceFacts, OfAnyTextAreFinite) {
  for (const char* text :
       {"", "no kernel", "/*@winnow {", "\xff\xfe \"unclosed", "R\"x(", "asm asm"}) {
    for (const auto& [name, value] : source_facts(text)) {
      EXPECT_GE(value, 0) << text << ": " << name;
    }
    EXPECT_FALSE(source_facts(text).contains("launches")) << text;
  }
}

} // namespace
} // namespace winnow::harness
