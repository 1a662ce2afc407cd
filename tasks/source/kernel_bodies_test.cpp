#include "tasks/source/kernel_file_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

TEST(KernelBodies, BeginWithTheStatement) {
  const std::string text =
      begin_kernels_with("__global__ void f(int a[2]);\n"
                         "extern \"C\" __global__ void g(void (*h)(int)) { b(); }\n"
                         "__global__ void",
                         " if (blockDim.x > 0) { return; }");
  EXPECT_THAT(text, HasSubstr("h)(int)) { if (blockDim.x > 0) { return; } b(); }"));
  EXPECT_THAT(text, HasSubstr("f(int a[2]);\n"));
}

} // namespace
} // namespace winnow::tasks
