#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A place in a text file; line and column count from 1, columns in bytes. 0: not known.
struct SourcePosition {
  int line = 0;
  int column = 0;
};

/// A mistake in something that was given to us, for a person or a model to mend.
struct Diagnostic {
  std::string file;
  SourcePosition at;
  std::string what;         ///< what is wrong: "unknown name 'colz' in expression 'colz / 4'"
  std::string expected;     ///< what was expected or what to do: "an axis, scalar, parameter ..."
  bool unsupported = false; ///< no mistake: this device cannot do what was asked for
};

constexpr std::size_t kMaxPlanErrors = 20; ///< told at once of one plan

/// Whether there is nothing to mend: at least one diagnostic, all `unsupported`.
bool all_unsupported(const std::vector<Diagnostic>& diagnostics);

/// "file:line:column: what; expected ..." (the parts that are known).
std::string to_string(const Diagnostic& diagnostic);

} // namespace winnow::tasks
