#pragma once

#include "tasks/diagnostic.h"
#include "tasks/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// A solution: device code with its launch plan. `winnow eval` takes it from a person, models reply
/// with it, the store keeps it, exports carry it.
struct KernelFile {
  std::string file; ///< name used in messages
  std::string text; ///< the whole file, as given
  /// The device code: `text` with the plan comment blanked and includes of host-only headers
  /// (torch, pybind11, ...) commented out, line numbers unchanged.
  std::string source;
  Plan plan;
};

struct KernelFileResult {
  std::optional<KernelFile> kernel_file; ///< absent exactly when there are errors
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings; ///< "kernel 'x' is in no launch", dropped includes, ...
};

constexpr std::size_t kMaxKernelFileBytes = 1U << 20U;

/// Never throws on bad input: empty, NUL bytes, invalid UTF-8, too large, no or unclosed plan,
/// malformed JSON, unknown keys (nearest match) and bad expressions are errors with a position.
KernelFileResult parse_kernel_file(std::string_view text, std::string file_name);

/// Every choice of parameters that satisfies `where`, the default first (the first value of each,
/// if allowed), then in order; at most `limit`, found among the first hundred thousand. Throws
/// ExpressionError when a `where` has no value.
std::vector<ParameterChoice> parameter_choices(const Plan& plan, std::size_t limit);

/// Identifies a kernel in races: SHA-256 of a kernel file and the parameters it runs with.
std::string kernel_digest(std::string_view text, const ParameterChoice& parameters);

/// Whether the plan asks for fast math under this choice. Throws ExpressionError.
bool uses_fast_math(const Plan& plan, const ParameterChoice& choice);

} // namespace winnow::tasks
