#include "evaluators/device/inspect/ptxas_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kLog =
    "winnow_candidate.cu(1): warning #1105-D: #warning directive: hello\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z1kILi64EEvPfi' for 'sm_90a'\n"
    "ptxas info    : Function properties for _Z1kILi64EEvPfi\n"
    "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem\n"
    "ptxas info    : Compile time = 5.002 ms\n"
    "ptxas info    : Compiling entry function 'plain' for 'sm_90a'\n"
    "ptxas info    : Function properties for plain\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers\n"
    "ptxas info    : Function properties for _Z6helperPf\n"
    "ptxas         .     99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n";

TEST(PtxasLog, ReadsUsageOfEntryFunctions) {
  const auto usage = read_ptxas_usage(kLog);
  ASSERT_EQ(usage.size(), 2U);
  const PtxasUsage first = usage.at("_Z1kILi64EEvPfi");
  EXPECT_EQ(first.registers, 12);
  EXPECT_EQ(first.stack_bytes, 16);
  EXPECT_EQ(first.spill_store_bytes, 12);
  EXPECT_EQ(first.spill_load_bytes, 20);
  EXPECT_EQ(first.shared_bytes, 256);
  EXPECT_EQ(usage.at("plain").registers, 8);
  EXPECT_EQ(usage.at("plain").stack_bytes, 0);
}

TEST(PtxasLog, TheLastWordCounts) {
  const auto usage = read_ptxas_usage("ptxas info    : Compiling entry function 'plain' for 'x'\n"
                                      "ptxas info    : Used 1 registers, 7 bytes smem\n" +
                                      kLog);
  EXPECT_EQ(usage.at("plain").registers, 8);
  EXPECT_EQ(usage.at("plain").shared_bytes, 0);
}

TEST(PtxasLog, KeepsAdvice) {
  EXPECT_THAT(read_ptxas_advice(kLog), IsEmpty());
  const std::string line = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
                           "instructions are serialized due to x\n";
  EXPECT_THAT(read_ptxas_advice(line + line),
              ElementsAre("(C7510) Potential Performance Loss: wgmma.mma_async instructions are "
                          "serialized due to x"));
}

TEST(PtxasLog, QuotesPtx) {
  EXPECT_EQ(
      name_ptx_lines("ptxas application ptx input, line 2; error   : Unknown modifier '.f33'\n"
                     "ptxas fatal   : Ptx assembly aborted due to errors\n",
                     "first\n\tmov.f33 %f1, %f2;\n"),
      "winnow_ptx(2): error: Unknown modifier '.f33' in 'mov.f33 %f1, %f2;'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
}

TEST(PtxasLog, SurvivesGarbage) {
  for (const char* log : {"", "ptxas", "ptxas info : Compiling entry function '", "ptxas , line ;",
                          "ptxas x, line 99999999999999999999; error : y", "ptxas ., line 9; error",
                          "ptxas info : Used 99999999999 registers", "ptxas , line 0; error : x"}) {
    EXPECT_NO_THROW(read_ptxas_usage(log)) << log;
    EXPECT_NO_THROW(read_ptxas_advice(log)) << log;
    EXPECT_NO_THROW(name_ptx_lines(log, "one")) << log;
  }
}

} // namespace
} // namespace winnow::evaluators
