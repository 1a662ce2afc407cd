#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// What the kernel-file parser needs to know of the C++ text around a plan, read off its tokens.
/// Offsets in bytes.
struct KernelFileScan {
  struct PlanComment {
    std::size_t begin = 0; ///< of "/*@winnow"
    std::size_t end = 0;   ///< past "@*/", or the end of the file if not closed
    std::size_t json_begin = 0;
    std::size_t json_end = 0;
    bool closed = false;
  };
  struct Include {
    std::size_t begin = 0; ///< of '#'
    std::size_t end = 0;   ///< past the closing '>' or '"'
    std::string header;
  };
  struct Kernel {
    std::string name;
    std::size_t offset = 0;
  };

  std::vector<PlanComment> plans;
  std::vector<Include> includes;
  std::vector<Kernel> kernels; ///< each name once
  std::set<std::string, std::less<>> identifiers;
  bool pastes_tokens = false;          ///< "##" appears: a macro may define any name
  int open_braces = 0;                 ///< '{' without '}' at the end
  std::optional<std::size_t> unclosed; ///< a comment or raw string that never ends
};

KernelFileScan scan_kernel_file(std::string_view text);

/// The kernel file with `statement` at the top of each kernel. Declarations stay as they are.
std::string begin_kernels_with(std::string kernel_file, std::string_view statement);

} // namespace winnow::tasks
