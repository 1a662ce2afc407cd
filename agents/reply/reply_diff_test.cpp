#include "agents/reply/reply_diff.h"
#include "base/text.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;

const std::string kParent = R"(/*@winnow
{ "launches": [{ "kernel": "k", "grid": [1], "block": [32], "args": ["x", "y"] }] }
@*/
__global__ void k(const float* x, float* y) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += x[i];
  }
  y[threadIdx.x] = sum;
  y[threadIdx.x] += 1;
}
)";

std::string block(const std::string& search, const std::string& replace) {
  return fmt::format("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", search, replace);
}

std::string problem_of(const std::string& reply, const std::string& parent = kParent) {
  const AppliedBlocks applied = apply_blocks(parent, reply);
  EXPECT_FALSE(applied.text) << *applied.text;
  return applied.problem;
}

std::string text_of(const std::string& reply, const std::string& parent = kParent) {
  const AppliedBlocks applied = apply_blocks(parent, reply);
  EXPECT_EQ(applied.problem, "");
  return applied.text.value_or("");
}

std::string with(std::string text, const std::string& old, const std::string& fresh) {
  return text.replace(text.find(old), old.size(), fresh);
}

TEST(ReplyDiff, AppliesBlocksAnywhereInTheReply) {
  const std::string reply =
      "I unroll.\n\n```\n" + block("    sum += x[i];\n", "    sum += 2 * x[i];\n") +
      "```\nand then\n" + block("  y[threadIdx.x] += 1;\n", "") + "That is all.";
  std::string expected = with(kParent, "sum += x[i]", "sum += 2 * x[i]");
  EXPECT_EQ(text_of(reply), with(expected, "  y[threadIdx.x] += 1;\n", ""));
}

TEST(ReplyDiff, AppliesBlocksInAnyOrderToTheParentAsItIs) {
  const std::string reply =
      block("  y[threadIdx.x] = sum;\n", "  y[threadIdx.x] = 2 * sum;\n") +
      block("  float sum = 0;\n", "  float sum = 0;\n  y[threadIdx.x] = sum;\n");
  EXPECT_THAT(text_of(reply), HasSubstr("sum = 0;\n  y[threadIdx.x] = sum;\n  for"));
  EXPECT_THAT(text_of(reply), HasSubstr("  y[threadIdx.x] = 2 * sum;\n"));
}

TEST(ReplyDiff, ToleratesLineEndsSpacesAndOtherLengthsOfMarkers) {
  EXPECT_THAT(text_of("<<<<<<< SEARCH\r\n  float sum = 0;  \r\n=======\r\n  float sum = 1;\r\n"
                      ">>>>>>> REPLACE\r\n"),
              HasSubstr("{\n  float sum = 1;\n  for"));
  EXPECT_THAT(text_of("<<<<< SEARCH\n  float sum = 0;\n=====\n  float sum = 1;\n >>>>> REPLACE "),
              HasSubstr("float sum = 1;"));
  EXPECT_EQ(text_of(block("a\n", "b\n"), "x \r\na\t\r\nc"), "x \nb\nc\n");
}

TEST(ReplyDiff, ToleratesOtherWordsAndWhatStandsAroundABlock) {
  const std::string plain = block("  float sum = 0;\n", "  float sum = 1;\n");
  const auto prefixed = [&](const std::string& prefix) {
    std::string all;
    for (const std::string_view line : split_lines(plain)) {
      all.append(prefix).append(line).push_back('\n');
    }
    return all;
  };
  for (const std::string& reply :
       {with(with(plain, "SEARCH", "search:"), "REPLACE", "replace:"),
        with(with(plain, "SEARCH", "ORIGINAL"), "REPLACE", "UPDATED"),
        with(with(plain, "SEARCH", "HEAD"), "REPLACE", "main"),
        with(plain, "SEARCH", "SEARCH kernel.cu"), prefixed("> "), prefixed("   "),
        block("```cuda\n  float sum = 0;\n```\n", "```cuda\n  float sum = 1;\n```\n")}) {
    EXPECT_THAT(text_of(reply), HasSubstr("{\n  float sum = 1;\n  for")) << reply;
    EXPECT_TRUE(has_block(reply));
  }
  EXPECT_FALSE(has_block("<<<<< look here\n"));
}

TEST(ReplyDiff, NamesTheNearestLineIfNothingMatches) {
  const std::string problem =
      problem_of(block("  float sum = 0;\n", "") + block("    sum += x[j];\n", ""));
  EXPECT_THAT(problem, HasSubstr("block 2: the lines to search are not in the parent"));
  EXPECT_THAT(problem, HasSubstr("its line 1 'sum += x[j];' is not there; the nearest line of the "
                                 "parent is line 7: 'sum += x[i];'"));
  EXPECT_THAT(problem_of(block("  float sum = 0;\n    sum += x[i];\n", "")),
              HasSubstr("do not follow one another"));
}

TEST(ReplyDiff, CountsLinesThatOccurMoreThanOnce) {
  EXPECT_THAT(problem_of(block("a\n", "b\n"), "a\nb\na\na\n"),
              HasSubstr("block 1: the lines to search occur 3 times in the parent, first at the "
                        "lines 1 and 3"));
  EXPECT_THAT(problem_of(block("a\na\n", "b\n"), "a\na\na\n"), HasSubstr("occur 2 times"));
}

TEST(ReplyDiff, LeavesThePlanAlone) {
  EXPECT_THAT(problem_of(block("@*/\n__global__ void k(const float* x, float* y) {\n", "x\n")),
              HasSubstr("block 1 touches the plan comment"));
  EXPECT_THAT(problem_of(block("/*@winnow\n", "\n")), HasSubstr("send a complete kernel file"));
  EXPECT_THAT(problem_of(block("  float sum = 0;\n", "/*@winnow {} @*/\n")),
              HasSubstr("touches the plan comment"));
  EXPECT_THAT(text_of(block("__global__ void k(const float* x, float* y) {\n",
                            "__global__ void k(const float* x, float* __restrict__ y) {\n")),
              HasSubstr("__restrict__"));
}

TEST(ReplyDiff, RefusesOverlapsAndRepetitions) {
  const std::string one = block("  float sum = 0;\n  for (int i = 0; i < 4; ++i) {\n", "\n");
  const std::string two = block("  for (int i = 0; i < 4; ++i) {\n", "\n");
  EXPECT_THAT(problem_of(two + one), HasSubstr("blocks 1 and 2 overlap: both replace line 6"));
  EXPECT_THAT(problem_of(two + two), HasSubstr("blocks 1 and 2 overlap"));
}

TEST(ReplyDiff, RefusesMalformedBlocks) {
  EXPECT_THAT(problem_of("no change is needed"), HasSubstr("no search/replace block"));
  EXPECT_THAT(problem_of(block("", "x\n")), HasSubstr("block 1 searches for nothing"));
  EXPECT_THAT(problem_of(block(" \n\n", "x\n")), HasSubstr("block 1 searches for nothing"));
  EXPECT_THAT(problem_of("<<<<<<< SEARCH\n  float sum = 0;\n=======\n  float"),
              HasSubstr("block 1 has no line '>>>>>>> REPLACE': the reply ends"));
  EXPECT_THAT(problem_of("<<<<<<< SEARCH\na\n=======\nb\n" + block("c\n", "d\n")),
              HasSubstr("block 1 has no line '>>>>>>> REPLACE' before the next"));
  EXPECT_THAT(problem_of("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n"),
              HasSubstr("block 1 has no line '======='"));
  EXPECT_THAT(problem_of(block("  float sum = 0;\n", "a\n=======\nb\n")),
              HasSubstr("block 1 has two lines '======='"));
  EXPECT_THAT(problem_of(block("  float sum = 0;\n", "  float sum = 0;\n")),
              HasSubstr("leave the parent as it is"));
  EXPECT_THAT(problem_of(block("a\n", "b\n"), ""), HasSubstr("the parent has no text"));
}

TEST(ReplyDiff, HasLimits) {
  EXPECT_THAT(problem_of(std::string(kMaxDiffBytes + 1, ' ')), HasSubstr("more than 1 MiB"));
  const std::string long_line = std::string(kMaxDiffBytes - 100, 'x') + "\n";
  EXPECT_THAT(problem_of(block("  float sum = 0;\n", long_line)),
              HasSubstr("the changed kernel file has more than 1 MiB"));
  std::string many;
  for (std::size_t i = 0; i <= kMaxBlocks; ++i) {
    many += block("a\n", "b\n");
  }
  EXPECT_THAT(problem_of(many), HasSubstr("more than 200 blocks"));
}

TEST(ReplyDiff, TakesNoQuadraticTime) {
  std::string same;
  for (int i = 0; i < 100'000; ++i) {
    same += "a\n";
  }
  EXPECT_THAT(problem_of(block(same + "b\n", "c\n"), same + same),
              HasSubstr("do not follow one another"));
}

TEST(ReplyDiff, AcceptsACompleteKernelFileInstead) {
  const std::string whole = with(kParent, "sum = 0", "sum = 7");
  const ExtractedKernel taken =
      extract_changed_kernel(kParent, "Another plan:\n```cuda\n" + whole + "```\n", "stop");
  ASSERT_TRUE(taken.text) << taken.problem;
  EXPECT_THAT(*taken.text, HasSubstr("sum = 7"));
  const ExtractedKernel none = extract_changed_kernel(kParent, "I would rather not.", "stop");
  EXPECT_FALSE(none.text);
  EXPECT_THAT(none.problem, HasSubstr("or change the parent by blocks"));
}

TEST(ReplyDiff, FindsBlocksInStructuredRepliesAndAfterThoughts) {
  const std::string structured =
      R"({"reasoning": "r", "kernel_file": "<<<<<<< SEARCH\n  float sum = 0;\n=======\n  float sum = 3;\n>>>>>>> REPLACE\n"})";
  EXPECT_THAT(extract_changed_kernel(kParent, structured, "stop").text.value_or(""),
              HasSubstr("sum = 3"));
  const std::string thought = "<think>\n" + block("nonsense\n", "x\n") + "</think>\n" +
                              block("  float sum = 0;\n", "  float sum = 4;\n");
  EXPECT_THAT(extract_changed_kernel(kParent, thought, "stop").text.value_or(""),
              HasSubstr("sum = 4"));
}

} // namespace
} // namespace winnow::agents
