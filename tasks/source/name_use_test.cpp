#include "tasks/source/name_use.h"

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

std::optional<int> line_of_use(const char* source) {
  return line_that_uses(source, "N");
}

TEST(NameUse, NoName) {
  EXPECT_EQ(line_of_use("// N\nint n = 3; /* N */ const char* s = \"N\"; int NN;"), std::nullopt);
  EXPECT_EQ(line_of_use("#include <cuda_fp16.h>\n#define M (4)\n#pragma once"), std::nullopt);
}

TEST(NameUse, OutsideOfTemplates) {
  EXPECT_EQ(line_of_use("int a;\n__shared__ float t[N];"), 2);
  EXPECT_EQ(line_of_use("void f() {\n\n for (int N = 0;;) {} }"), 3);
}

TEST(NameUse, TheTemplatesOwnParameter) {
  EXPECT_EQ(
      line_of_use(
          "template <int N> __global__ void __launch_bounds__(N) k(float (&x)[N]) { x[N] = 1; }"),
      std::nullopt);
  EXPECT_EQ(line_of_use("template <typename T, int N = 4, int M = N>\nstruct A { T a[N]; };"),
            std::nullopt);
  EXPECT_EQ(line_of_use("template <int N> void f();\ntemplate <int N> void f() { g(N); }"),
            std::nullopt);
  EXPECT_EQ(
      line_of_use("template <int N> struct A { template <int M> int f() { return M + N; } };"),
      std::nullopt);
  EXPECT_EQ(line_of_use("template <int N> void f() {\n#pragma unroll N\n for (;;) {} }"),
            std::nullopt);
  EXPECT_EQ(line_of_use("template <bool A, std::size_t N>\nconstexpr int half = N / 2;"),
            std::nullopt);
}

TEST(NameUse, BehindTheTemplate) {
  EXPECT_EQ(line_of_use("template <int N> void f() { g(N); }\nint a[N];"), 2);
  EXPECT_EQ(line_of_use("template <int N> void f();\nint a = N;"), 2);
  EXPECT_EQ(line_of_use("template <int N> constexpr int v = N;\nint a = N;"), 2);
  EXPECT_EQ(line_of_use("template <int N> struct A {};\ntemplate <int M> struct B { int a[N]; };"),
            2);
}

TEST(NameUse, InAHeaderThatDoesNotDeclareTheName) {
  EXPECT_EQ(line_of_use("template <int M = N>\nvoid f();"), 1);
  EXPECT_EQ(line_of_use("template <int M = N, int N = 2>\nvoid f();"), 1);
  EXPECT_EQ(line_of_use("template <int M = sizeof N, int K = 2>\nvoid f();"), 1);
  EXPECT_EQ(line_of_use("template <A::N>\nvoid f();"), 1);
  EXPECT_EQ(line_of_use("template void f<N>();"), 1);
  EXPECT_EQ(line_of_use("template <>\nvoid f<N>() {}"), 2);
  EXPECT_EQ(line_of_use("template <int N> void f() { g(::N); }"), 1);
}

TEST(NameUse, DoubtIsAUse) {
  EXPECT_EQ(line_of_use("#if N > 4\n#endif"), 1);
  EXPECT_EQ(line_of_use("#define SIZE (4 * N)"), 1);
  EXPECT_EQ(line_of_use("\n#define JOIN(a, b) a##b"), 2);
  EXPECT_EQ(line_of_use("#define BEGIN {"), 1);
  EXPECT_EQ(line_of_use("#pragma unroll N"), 1);
  EXPECT_EQ(line_of_use("#define END ;\ntemplate <int N> struct A END\nint f() { return N; }"), 3);
  EXPECT_EQ(line_of_use(
                "template <int N> void f() {\n#ifdef A\n g(); }\n#else\n }\n#endif\nint a = N; }"),
            7);
  EXPECT_EQ(line_of_use("template <int N> void f() { g(N);"), 1);
  EXPECT_EQ(line_of_use("template <bool A = 3 < 4, int N> void f() { g(N); }"), 1);
}

} // namespace
} // namespace winnow::tasks
