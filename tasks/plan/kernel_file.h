#pragma once

#include "base/text/diagnostic.h"
#include "tasks/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// A solution: device code with its launch plan. A person passes the file to `winnow eval`, or a
/// model replies with it. The store and the exports keep its text.
struct KernelFile {
  std::string file; ///< name used in messages
  std::string text; ///< the whole file, as given
  /// The device code: `text` with the plan comment blanked out and the includes of host-only
  /// headers (torch, pybind11, ...) commented out. Line numbers stay the same.
  std::string source;
  Plan plan;
};

struct KernelFileResult {
  std::optional<KernelFile> kernel_file; ///< absent exactly when there are errors
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings; ///< "no launch uses kernel 'x'", dropped includes, ...
};

constexpr std::size_t kMaxKernelFileBytes = 1U << 20U;

/// Never throws for bad input. The following are errors with a position: an empty or too large
/// file, NUL bytes, invalid UTF-8, a missing or unclosed plan, malformed JSON, unknown keys (with
/// the nearest match) and bad expressions.
KernelFileResult parse_kernel_file(std::string_view text, std::string file_name);

/// Identifies a kernel in races: the SHA-256 of the kernel file's text and the parameters.
std::string kernel_digest(std::string_view text, const ParameterChoice& parameters);

/// Whether the plan asks for fast math under this choice. Throws ExpressionError.
bool uses_fast_math(const Plan& plan, const ParameterChoice& choice);

} // namespace winnow::tasks
