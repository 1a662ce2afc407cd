#include "tasks/source/kernel_bodies.h"

#include <cstddef>

namespace winnow::tasks {
namespace {

constexpr std::string_view kKernel = "__global__";

/// The position behind the brace that opens the body of the kernel at `at`; npos: a declaration.
std::size_t body_of(std::string_view code, std::size_t at) {
  int depth = 0;
  for (std::size_t i = code.find("void", at); i < code.size(); ++i) {
    depth += code[i] == '(' ? 1 : code[i] == ')' ? -1 : 0;
    if (depth == 0 && code[i] == ';') {
      return std::string::npos;
    }
    if (depth == 0 && code[i] == '{') {
      return i + 1;
    }
  }
  return std::string::npos;
}

} // namespace

std::string begin_kernels_with(std::string kernel_file, std::string_view statement) {
  for (std::size_t at = kernel_file.find(kKernel); at != std::string::npos;
       at = kernel_file.find(kKernel, at + kKernel.size())) {
    if (const std::size_t body = body_of(kernel_file, at); body != std::string::npos) {
      kernel_file.insert(body, statement);
    }
  }
  return kernel_file;
}

} // namespace winnow::tasks
