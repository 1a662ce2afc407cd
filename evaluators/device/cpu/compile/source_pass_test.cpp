#include "base/text.h"
#include "evaluators/device/cpu/compile/source_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TranslatedSource pass(const std::string& source,
                      std::map<std::string, std::int64_t> parameters = {},
                      std::vector<std::string> kernels = {"k"}) {
  return run_source_pass({source,
                          std::move(parameters),
                          std::move(kernels),
                          {},
                          {{"cuda_fp16.h", "math.h", "cooperative_groups/reduce.h"}, {}, {}}});
}

// The part of the translation that comes from the candidate.
std::string body(const TranslatedSource& result) {
  const std::string begin = std::string("#line 1 \"") + kCandidateFile + "\"\n";
  const std::size_t from = result.translated.find(begin);
  const std::size_t to = result.translated.find("\n#line 1 \"winnow_module\"");
  return from == std::string::npos
             ? "(none)"
             : result.translated.substr(from + begin.size(), to - from - begin.size());
}

std::string mistake(const std::string& source, std::map<std::string, std::int64_t> parameters = {},
                    std::vector<std::string> kernels = {"k"}) {
  const TranslatedSource result = pass(source, std::move(parameters), std::move(kernels));
  return result.mistake ? result.mistake->what : "(no mistake)";
}

const std::string kKernel = "__global__ void k(float* x) {}\n";

TEST(Tokens, KnowComments) {
  const std::string text = "a /* b\n c */ d // e\nf";
  std::vector<std::string> words;
  std::vector<int> lines;
  for (const Token& token : tasks::tokenize(text)) {
    words.emplace_back(token.text);
    lines.push_back(token.line);
  }
  EXPECT_THAT(words, ElementsAre("a", "d", "f"));
  EXPECT_THAT(lines, ElementsAre(1, 2, 3));
}

TEST(Tokens, KnowStringsAndRawStrings) {
  const std::string text = R"__(x = "a // \" /*" + R"q()" // )q" 'a' 1'000 2.5e-3f)__";
  std::vector<std::string> words;
  for (const Token& token : tasks::tokenize(text)) {
    words.emplace_back(token.text);
  }
  EXPECT_THAT(words, ElementsAre("x", "=", R"("a // \" /*")", "+", "R\"q()\" // )q\"", "'a'",
                                 "1'000", "2.5e-3f"));
}

TEST(Tokens, TakeDirectivesAsOneToken) {
  const std::string text = tasks::normalise_source("  # define X \\\n 1\n%:include <y>\nz # w");
  const std::vector<Token> tokens = tasks::tokenize(text);
  ASSERT_EQ(tokens.size(), 5U);
  EXPECT_EQ(directive_name(tokens[0]), "define");
  EXPECT_EQ(directive_name(tokens[1]), "include");
  EXPECT_EQ(directive_arguments(tokens[1]), "<y>");
  EXPECT_EQ(tokens[1].line, 3);
  EXPECT_EQ(tokens[2].text, "z");
}

TEST(Tokens, NormaliseKeepsLineNumbers) {
  EXPECT_EQ(tasks::normalise_source("a\r\nb\rc"), "a\nb\nc\n");
  EXPECT_EQ(tasks::normalise_source("in\\\nt x;\ny"), "int x;\n\ny\n");
  EXPECT_EQ(tasks::normalise_source("in\\  \r\nt x;\ny"), "int x;\n\ny\n");
  EXPECT_EQ(tasks::normalise_source(""), "\n");
}

struct RewriteCase {
  const char* name;
  const char* source;
  const char* expected;
};

void PrintTo(const RewriteCase& test, std::ostream* out) {
  *out << test.name;
}

class Rewrite : public testing::TestWithParam<RewriteCase> {};

TEST_P(Rewrite, Shared) {
  const std::string inside = std::string("__global__ void k() { ") + GetParam().source + " }";
  EXPECT_EQ(body(pass(inside)),
            std::string("__global__ void k() { ") + GetParam().expected + " }\n");
}

INSTANTIATE_TEST_SUITE_P(
    SourcePass, Rewrite,
    testing::Values(
        RewriteCase{"dynamic", "extern __shared__ float s[];",
                    "float* const s = (float*)::winnow_dynamic_shared();"},
        RewriteCase{"dynamic_aligned", "extern __shared__ __align__(16) unsigned char s[];",
                    "unsigned char* const s = (unsigned char*)::winnow_dynamic_shared();"},
        RewriteCase{"dynamic_alignas_first", "alignas(16) extern __shared__ char s[];",
                    "char* const s = (char*)::winnow_dynamic_shared();"},
        RewriteCase{"dynamic_two", "extern __shared__ int a[], b[];",
                    "int* const a = (int*)::winnow_dynamic_shared();int* const b = "
                    "(int*)::winnow_dynamic_shared();"},
        RewriteCase{"dynamic_template_type", "extern __shared__ Vec<float, 4> s[];",
                    "Vec < float , 4 >* const s = (Vec < float , 4 >*)::winnow_dynamic_shared();"},
        RewriteCase{"dynamic_volatile", "extern volatile __shared__ float s[];",
                    "volatile float* const s = (volatile float*)::winnow_dynamic_shared();"},
        RewriteCase{"static", "static __shared__ float s[32];", " __shared__ float s[32];"},
        RewriteCase{"alignas_moves", "__shared__ alignas(16) float s[32];",
                    "alignas(16) __shared__  float s[32];"},
        RewriteCase{"align_moves", "__shared__ __align__(16) float s[4], t[4];",
                    "__align__(16) __shared__  float s[4], t[4];"},
        RewriteCase{"plain", "__shared__ float s[N][M + 1];", "__shared__ float s[N][M + 1];"},
        RewriteCase{"in_comment", "/* extern __shared__ float s[]; */",
                    "/* extern __shared__ float s[]; */"},
        RewriteCase{"in_string", "const char* t = \"extern __shared__ float s[];\";",
                    "const char* t = \"extern __shared__ float s[];\";"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SourcePass, DynamicSharedOfTwoDimensions) {
  EXPECT_THAT(body(pass("__global__ void k() { extern __shared__ float s[][32]; }")),
              HasSubstr("__typeof__((float(*)[32])nullptr) const s = "));
}

TEST(SourcePass, DynamicSharedAtFileScopeIsBoundBeforeEachKernel) {
  const TranslatedSource result = pass("namespace a { extern __shared__ float s[]; }\n" + kKernel);
  EXPECT_THAT(body(result), HasSubstr("namespace a { static thread_local float* s; }"));
  EXPECT_THAT(result.translated, HasSubstr("a::s = (decltype(a::s))::winnow_dynamic_shared();"));
  EXPECT_THAT(result.translated, HasSubstr("{\"k\", &winnow_thread_0, &winnow_block_0}"));
}

TEST(SourcePass, DynamicSharedInAMacro) {
  EXPECT_THAT(body(pass("#define SMEM(T, s) extern __shared__ T s[]\n" + kKernel)),
              HasSubstr("#define SMEM(T, s) T* const s = (T*)::winnow_dynamic_shared()\n"));
  EXPECT_THAT(body(pass("#define SMEM static __shared__ int s[4]\n" + kKernel)),
              HasSubstr("#define SMEM  __shared__ int s[4]\n"));
}

TEST(SourcePass, DropsUnrollBeforeWhatIsNoLoop) {
  const std::string out = body(pass("__global__ void k() {\n#pragma unroll\n  int x;\n"
                                    "#pragma unroll 4\n  for (;;) {}\n}\n"));
  EXPECT_THAT(out, HasSubstr("{\n\n  int x;\n#pragma unroll 4\n  for"));
}

TEST(SourcePass, KeepsLineNumbersOfRewrittenDeclarations) {
  const std::string out =
      body(pass("__global__ void k() { extern __shared__\n float\n s[];\n}\nX"));
  EXPECT_EQ(split_lines(out).at(4), "X");
}

TEST(SourcePass, FindsKernelsWithParameterNames) {
  const TranslatedSource result = pass("template <typename T, int N = 4>\n"
                                       "__global__ void __launch_bounds__(256, 2)\n"
                                       "k(const T* __restrict__ x, float (&y)[3], int, unsigned n "
                                       "= 4, half*, ns::type, int a[4]) {}\n"
                                       "__global__ void later(int q);\n"
                                       "template <> __global__ void k<int, 2>(int* z) {}\n");
  ASSERT_EQ(result.scan.kernels.size(), 3U);
  const KernelDeclaration& first = result.scan.kernels[0];
  EXPECT_EQ(first.name, "k");
  EXPECT_EQ(first.line, 3);
  EXPECT_THAT(first.parameters, ElementsAre("x", "", "", "n", "", "", "a"));
  EXPECT_TRUE(first.definition);
  EXPECT_FALSE(result.scan.kernels[1].definition);
  EXPECT_TRUE(result.scan.kernels[2].specialisation);
  EXPECT_THAT(result.scan.template_parameters, ElementsAre("N", "T"));
}

TEST(SourcePass, WritesTheKernelTable) {
  const TranslatedSource result =
      pass("template <int N> __global__ void k(float* x) {}", {}, {"k<4>", "k<8>"});
  EXPECT_THAT(result.translated, HasSubstr("WINNOW_SIGNATURE(1, \"x\\0\", k<8>)"));
  EXPECT_THAT(result.translated, HasSubstr("WINNOW_KERNEL(\"k<4>\", k<4>),"));
}

TEST(SourcePass, ParametersAreConstants) {
  const TranslatedSource result =
      pass(kKernel, {{"BLOCK", 128}, {"BIG", 3'000'000'000}, {"LESS", -4}});
  EXPECT_THAT(result.translated, HasSubstr("constexpr int BLOCK = 128;\n"));
  EXPECT_THAT(result.translated, HasSubstr("constexpr long long BIG = 3000000000LL;\n"));
  EXPECT_THAT(result.translated, HasSubstr("constexpr int LESS = -4;\n"));
}

TEST(SourcePass, ParametersThatDirectivesTestAreMacros) {
  const std::string tested = "#ifndef BLOCK\n#define BLOCK 64\n#endif\n" + kKernel;
  EXPECT_THAT(pass(tested, {{"BLOCK", 128}}).translated, HasSubstr("#define BLOCK 128\n"));
  const std::string both = "#if VEC > 1\n#endif\ntemplate <int VEC> void f();\n" + kKernel;
  EXPECT_THAT(pass(both, {{"VEC", 4}}).translated, HasSubstr("constexpr int VEC = 4;"));
}

TEST(SourcePass, DefineThatHidesAParameterIsAMistake) {
  EXPECT_THAT(mistake("#define BLOCK 64\n" + kKernel, {{"BLOCK", 128}}),
              HasSubstr("#define BLOCK hides the plan's parameter"));
}

TEST(SourcePass, NamesTheNearestKernel) {
  EXPECT_THAT(mistake("__global__ void softmax() {}", {}, {"softmx<4>"}),
              HasSubstr("did you mean 'softmax'?"));
  EXPECT_THAT(mistake("__device__ void k() {}"), HasSubstr("not declared __global__"));
  EXPECT_EQ(mistake("#define KERNEL(n) __global__ void n()\nKERNEL(k) {}"), "(no mistake)");
}

TEST(SourcePass, RefusesTwoKernelsOfOneName) {
  EXPECT_THAT(mistake(kKernel + kKernel), HasSubstr("defined twice, in lines 1 and 2"));
  EXPECT_EQ(mistake("#if 1\n" + kKernel + "#else\n" + kKernel + "#endif\n"), "(no mistake)");
  EXPECT_EQ(mistake("__global__ void k(float* x);\n" + kKernel), "(no mistake)");
}

TEST(SourcePass, AsksForTemplateArguments) {
  const std::string one = "// c\ntemplate <int BLOCK> __global__ void k(float* x) {}\n";
  const TranslatedSource result = pass(one, {{"BLOCK", 128}});
  ASSERT_TRUE(result.mistake);
  EXPECT_EQ(result.mistake->line, 2);
  EXPECT_EQ(result.mistake->column, 38);
  EXPECT_EQ(result.mistake->what, "kernel 'k' is a template: write \"k<{BLOCK}>\" in the plan");
  EXPECT_EQ(mistake(one, {{"BLOCK", 128}}, {"k<128>"}), "(no mistake)");
  EXPECT_EQ(
      mistake(one, {}, {"k<1, 2>"}),
      "kernel 'k' takes 1 template argument, and the plan's \"k<1, 2>\" has 2: write "
      "\"k<{BLOCK}>\" in the plan, and add BLOCK to \"params\" (or write a number in place of "
      "{BLOCK})");
  const std::string more = "template <class T, int N, bool E = true>\n__global__ void k(T* x) {}\n";
  EXPECT_THAT(mistake("namespace ns {\n" + more + "}", {{"N", 4}}, {"ns::k"}),
              HasSubstr("write \"ns::k<float, {N}>\" in the plan, with the type that you mean"));
  EXPECT_THAT(mistake(more, {}, {"k<float>"}), HasSubstr("takes at least 2 template arguments"));
  EXPECT_EQ(mistake(more, {}, {"k<float, 4, (1 > 2)>"}), "(no mistake)");
  EXPECT_EQ(mistake("template <int... N> __global__ void k() {}", {}, {"k<1, 2>"}), "(no mistake)");
  EXPECT_EQ(mistake("template <int N = 1> __global__ void k() {}"),
            "kernel 'k' is a template: write \"k<>\" in the plan");
}

TEST(SourcePass, RefusesWhatIsNoKernelName) {
  for (const char* name : {"", "k<4", "k; int x", "k<1> + 2", "\"k\"", "k<{}>", "4", "k\n"}) {
    EXPECT_THAT(mistake(kKernel, {}, {name}), HasSubstr("is not the name of a kernel")) << name;
  }
}

TEST(SourcePass, LetsDeviceHeadersThrough) {
  const TranslatedSource result =
      pass("#include \"cuda_fp16.h\"\n# include <math.h> // x\n" + kKernel);
  EXPECT_FALSE(result.mistake);
  EXPECT_THAT(body(result), HasSubstr("#include <cuda_fp16.h>\n#include <math.h>\n"));
}

class ForbiddenLine : public testing::TestWithParam<const char*> {};

TEST_P(ForbiddenLine, NeverReachesACompiler) {
  const TranslatedSource plain = pass(std::string(GetParam()) + "\n" + kKernel);
  EXPECT_TRUE(plain.mistake);
  EXPECT_EQ(plain.translated, "");
  // In a branch that the preprocessor may skip, the line is replaced.
  const TranslatedSource conditional =
      pass("#if 0\n" + std::string(GetParam()) + "\n#endif\n" + kKernel);
  if (!conditional.mistake) {
    const std::string translated = body(conditional); // tokens point into it
    for (const Token& token : tasks::tokenize(translated)) {
      EXPECT_TRUE(token.kind != Token::Kind::Directive || directive_name(token) != "include")
          << token.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    SourcePass, ForbiddenLine,
    testing::Values("#include \"/etc/passwd\"", "#include </etc/passwd>",
                    "%:include \"/etc/passwd\"", "#include \"../../etc/passwd\"",
                    "#inc\\\nlude \"/etc/passwd\"",
                    "/* x */ # /* y */ include /* z */ \"/etc/passwd\"", "#include NAME",
                    "#include_next <math.h>", "#import <math.h>", "#embed \"/etc/passwd\"",
                    "#include \"math.h/../../../etc/passwd\"", "#include </*etc/passwd>\n*/",
                    "#if __has_include(\"/root/.bashrc\")\n#endif",
                    "#if __has_include(NAME)\n#endif", "#define PROBE __has_include",
                    "#define X R\"(/*)\"\n", "#undef asm", "#define X __asm", "#define __asm__ x",
                    "#include", "#include <>", "x;\r#include \"/etc/passwd\"", "#include <vectr>"));

TEST(SourcePass, SuggestsTheNearestHeader) {
  EXPECT_THAT(mistake("#include <cuda_fp61.h>\n" + kKernel),
              HasSubstr("cannot include <cuda_fp61.h>: only the device headers are available; did "
                        "you mean <cuda_fp16.h>?"));
}

TEST(SourcePass, DropsLineMarkers) {
  // Compilers quote lines of the file that a line marker names.
  const std::string out =
      body(pass("#line 1 \"/etc/passwd\"\n# 1 \"/etc/passwd\" 1\n#warning /*\n" + kKernel));
  EXPECT_THAT(out, Not(HasSubstr("passwd")));
  EXPECT_THAT(out, Not(HasSubstr("warning")));
}

TEST(SourcePass, NotesUnsupportedConstructs) {
  const TranslatedSource result = pass(
      "// asm\nconst char* t = \"asm\";\n__global__ void k() {\n asm(\"x\");\n f<<<1, 2>>>();\n}");
  ASSERT_EQ(result.scan.unsupported.size(), 2U);
  EXPECT_EQ(result.scan.unsupported[0].line, 4);
  EXPECT_THAT(result.scan.unsupported[1].what, HasSubstr("dynamic parallelism"));
}

TEST(SourcePass, NotesHostCode) {
  const TranslatedSource result = pass(kKernel + "int main() { k<<<1, 2>>>(p); }\n");
  ASSERT_EQ(result.scan.host_code.size(), 2U);
  EXPECT_EQ(result.scan.host_code[0].what, "main");
  EXPECT_EQ(result.scan.host_code[0].line, 2);
}

TEST(SourcePass, SurvivesBrokenSources) {
  for (const char* source : {"__global__ void k(",
                             "__global__ void k() {",
                             "/* open",
                             "\"open",
                             "R\"(open",
                             "#",
                             "#if",
                             "}}}}",
                             "__shared__",
                             "extern __shared__ float",
                             "extern __shared__ float x[",
                             "template <",
                             "namespace {",
                             "__global__",
                             "#include",
                             "#define",
                             "extern __shared__ float x[];",
                             "__shared__ alignas(",
                             "\\",
                             "k<<<",
                             "__global__ void k<4",
                             "\xff\xfe"}) {
    EXPECT_NO_THROW(pass(source)) << source;
    EXPECT_NO_THROW(pass(kKernel + source)) << source;
  }
  EXPECT_THAT(mistake(std::string("a\n\0b", 4)), HasSubstr("NUL byte"));
}

} // namespace
} // namespace winnow::evaluators
