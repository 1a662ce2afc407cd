#include "evaluators/device/source/compiler_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(CompilerMessages, TakesErrorsAndLeavesTheRest) {
  const auto errors = parse_compiler_output(
      "In file included from /c/headers-1/cpu/winnow_cpu.h:3:\n"
      "winnow_candidate.cu: In function 'void k()':\n"
      "winnow_candidate.cu:4:10: warning: unused [-Wunused]\n"
      "winnow_candidate.cu:7:10: error: 'foo' was not declared in this scope [-Wx]\n"
      "winnow_candidate.cu:7:10: error: 'foo' was not declared in this scope [-Wx]\n"
      "winnow_candidate.cu:8: fatal error: second\n"
      "2 errors generated.\n");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].line, 7);
  EXPECT_EQ(errors[0].column, 10);
  EXPECT_EQ(errors[0].message, "'foo' was not declared in this scope");
  EXPECT_EQ(errors[1].line, 8);
}

TEST(CompilerMessages, PlacesHeaderErrorsWhereTheyCameFrom) {
  const auto gcc = parse_compiler_output(
      "/c/headers-1/cpu/winnow_core.h: In instantiation of 'void f() [with T = int]':\n"
      "winnow_candidate.cu:20:30:   required from here\n"
      "/c/headers-1/cpu/winnow_core.h:8:5: error: static assertion failed: four bytes\n");
  ASSERT_EQ(gcc.size(), 1U);
  EXPECT_EQ(gcc[0].line, 20);
  const auto clang = parse_compiler_output(
      "/c/headers-1/cpu/winnow_core.h:8:5: error: static_assert failed \"four bytes\"\n"
      "winnow_candidate.cu:21:3: note: in instantiation of function template requested here\n");
  ASSERT_EQ(clang.size(), 1U);
  EXPECT_EQ(clang[0].line, 21);
}

TEST(CompilerMessages, KeepTheTextOfOtherFilesToThemselves) {
  const auto errors =
      parse_compiler_output("/etc/passwd:1:1: error: unknown type name 'root'\n"
                            "/c/headers-1/../../etc/shadow:1:1: error: unknown type name 'hash'\n");
  ASSERT_FALSE(errors.empty());
  for (const CompilerError& error : errors) {
    EXPECT_THAT(error.message, Not(HasSubstr("root")));
    EXPECT_THAT(error.message, Not(HasSubstr("hash")));
  }
}

TEST(CompilerMessages, QuotesTheCandidatesOwnLine) {
  const ErrorReport report =
      report_errors(parse_compiler_output("winnow_candidate.cu:2:3: error: bad\n"),
                    {"softmax.cu", "one\n  two();\n", {}, {}, {}});
  EXPECT_EQ(report.first, "softmax.cu:2:3: bad\n  2 | two();");
}

TEST(CompilerMessages, IsCapped) {
  std::string output;
  for (int i = 1; i < 1000; ++i) {
    output +=
        "winnow_candidate.cu:" + std::to_string(i) + ":1: error: " + std::string(900, 'x') + "\n";
  }
  const ErrorReport report = report_errors(parse_compiler_output(output), {"a.cu", "", {}, {}, {}});
  EXPECT_LE(report.log.size(), kMaxLogBytes + 100);
  EXPECT_THAT(report.log, StartsWith("a.cu:1:1: xxx"));
}

TEST(CompilerMessages, GivesHints) {
  const auto hint = [](const std::string& message, bool at_end = false) {
    CompilerError error;
    error.message = message;
    error.at_end = at_end;
    return error_hint(error, {{"BLOCK", 128}});
  };
  EXPECT_THAT(hint("no member named 'w' in 'uint3'"), HasSubstr("only x, y and z"));
  EXPECT_THAT(hint("'struct uint3' has no member named 'w'"), HasSubstr("only x, y and z"));
  EXPECT_THAT(hint("variable length array declaration cannot have 'static' storage duration"),
              HasSubstr("parameter of the plan"));
  EXPECT_THAT(hint("redefinition of 'BLOCK'"), HasSubstr("parameter of the plan"));
  EXPECT_THAT(hint("redefinition of 'const int BLOCK'"), HasSubstr("parameter of the plan"));
  EXPECT_THAT(hint("redefinition of 'other'"), IsEmpty());
  EXPECT_THAT(hint("unknown type name '__half'"), HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_THAT(hint("unknown type name '__nv_fp8_e5m2'"), HasSubstr("#include <cuda_fp8.h>"));
  EXPECT_THAT(hint("class \"uint3\" has no member \"w\""), HasSubstr("only x, y and z"));
  EXPECT_THAT(hint("\"BLOCK\" has already been declared in the current scope"),
              HasSubstr("parameter of the plan"));
  EXPECT_THAT(hint("identifier \"__half\" is undefined"), HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_THAT(hint("expected '}'", true), HasSubstr("does not close a block or statement"));
}

TEST(CompilerMessages, ReadNvrtc) {
  const auto errors = parse_compiler_output(
      "winnow_candidate.cu(3): error: expression must have a constant value\n"
      "winnow_candidate.cu(3): note #2689-D: the value of parameter \"n\" cannot be used\n"
      "winnow_candidate.cu(4): warning #177-D: variable \"u\" was declared but never referenced\n"
      "winnow_candidate.cu(6): error #20: identifier \"f(2): x\" is undefined\n"
      "__nv_name_map(3): error: identifier \"nope\" is undefined\n"
      "winnow_candidate.cu(9): catastrophic error: cannot open source file \"x.h\"\n"
      "4 errors detected in the compilation of \"winnow_module\".\n");
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_EQ(errors[0].line, 3);
  EXPECT_EQ(errors[0].message, "expression must have a constant value (line 3: the value of "
                               "parameter \"n\" cannot be used)");
  EXPECT_EQ(errors[1].line, 6);
  EXPECT_EQ(errors[1].message, "identifier \"f(2): x\" is undefined");
  EXPECT_TRUE(errors[2].in_plan);
  EXPECT_EQ(errors[3].line, 9);
}

TEST(CompilerMessages, SayWhatMakesAnExpressionNoConstant) {
  const auto errors = parse_compiler_output(
      "winnow_candidate.cu(80): error: expression must have a constant value\n"
      "    constexpr Fit F = ct_fit();\n"
      "winnow_candidate.cu(44): note #2708-D: floating-point error\n"
      "winnow_candidate.cu(59): note #2693-D: called from:\n"
      "winnow_candidate.cu(90): error: identifier \"x\" is undefined\n"
      "winnow_candidate.cu(91): note #7: of another kind\n");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].line, 80);
  EXPECT_EQ(errors[0].message,
            "expression must have a constant value (line 44: floating-point error)");
  EXPECT_THAT(error_hint(errors[0], {}), HasSubstr("must not overflow, underflow"));
  EXPECT_EQ(errors[1].message, "identifier \"x\" is undefined");
}

TEST(CompilerMessages, PlaceErrorsOfTheToolkitsHeaders) {
  const std::string output =
      "/opt/cuda/include/cooperative_groups.h(1182): error: static assertion failed with \"Size\"\n"
      "          detected during:\n"
      "            instantiation of class \"Base<Size> [with Size=33U]\" at line 1327\n"
      "            instantiation of class \"Tile<Size>\" at line 5 of winnow_candidate.cu\n";
  const auto errors = parse_compiler_output(output, {"/opt/cuda/include"});
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].line, 5);
  EXPECT_THAT(errors[0].message, HasSubstr("static assertion"));
  const auto strange = parse_compiler_output(output, {"/opt/cuda/incl"});
  ASSERT_EQ(strange.size(), 1U);
  EXPECT_THAT(strange[0].message, Not(HasSubstr("static assertion")));
}

TEST(CompilerMessages, PlaceErrorsOfInlinePtx) {
  const auto errors = parse_compiler_output(
      "winnow_ptx(58): error: Unknown modifier '.f33' in 'mov.f33 %f1, %f2;'\n"
      "ptxas error   : Entry function 'k' uses too much shared data (0x20000 bytes)\n");
  const ErrorReport report =
      report_errors(errors, {"a.cu", "int i;\nasm(\"mov.f33 %0, %1;\");\n", {}, {}, {}});
  EXPECT_EQ(report.first, "a.cu:2: Unknown modifier '.f33' in 'mov.f33 %f1, %f2;'\n"
                          "  2 | asm(\"mov.f33 %0, %1;\");");
  EXPECT_THAT(report.log, HasSubstr("extern __shared__"));
}

TEST(CompilerMessages, SayWhyPtxasGaveUp) {
  const auto errors = parse_compiler_output(
      "ptxas fatal   : (C7602) Insufficient registers (128) to compile instruction at line 1302 in "
      "function _Z4convILi224EEvPf. Try to compile with register target of 138 or higher.\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
  ASSERT_EQ(errors.size(), 1U);
  const ErrorReport report = report_errors(errors, {"a.cu", "int i;\n", {}, {}, {}});
  EXPECT_THAT(report.first, HasSubstr("Insufficient registers (128)"));
  EXPECT_THAT(report.log, HasSubstr("__launch_bounds__"));
  EXPECT_EQ(parse_compiler_output("ptxas fatal   : Ptx assembly aborted due to errors\n").size(),
            0U);
}

TEST(CompilerMessages, NameThePlansKernelAndNoInternals) {
  const auto report = [](const std::string& output) {
    SourceScan scan;
    scan.kernels.emplace_back().name = "second";
    scan.kernels.back().line = 1;
    scan.kernels.back().column = 5;
    return report_errors(parse_compiler_output(output),
                         {"a.cu", "x", {}, {"first", "second<4>"}, scan});
  };
  const ErrorReport several =
      report("winnow_plan:2:25: error: reference to overloaded function could not be resolved\n"
             "winnow_plan:2:1: error: invalid application of 'sizeof' to 'const WinnowKernel[]'\n"
             "winnow_plan(2): error: incomplete type \"winnow_entry::Signature<<error-type>>\"\n");
  EXPECT_THAT(several.first,
              StartsWith("a.cu:1:5: kernel 'second<4>': the name stands for several"));
  EXPECT_EQ(several.log, several.first + "\n");
  EXPECT_THAT(report("winnow_plan:3:1: error: 'N' is undefined\n").first,
              StartsWith("a.cu: in a constant of the plan: 'N'"));
}

TEST(CompilerMessages, SurviveGarbage) {
  for (const char* output :
       {"", ":", ":::", "(", "): ", "a(): error: x", "a(1)): error: x", "ptxas error",
        " of winnow_candidate.cu", " at line  of winnow_candidate.cu", "winnow_ptx(1): error: in '",
        "a:1", "a:1:", "a:99999999999999:1: error: x", "winnow_candidate.cu:-1:1: error: x",
        "\xff:1:1: error: \xff"}) {
    EXPECT_NO_THROW(report_errors(parse_compiler_output(output), {"a.cu", "x", {}, {}, {}}))
        << output;
  }
}

} // namespace
} // namespace winnow::evaluators
