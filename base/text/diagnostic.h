#pragma once

#include <string>
#include <vector>

namespace winnow {

/// A place in a text file. Line and column count from 1; columns count bytes. 0: unknown.
struct SourcePosition {
  int line = 0;
  int column = 0;
};

/// A mistake in an input file. A person or a model reads the text and corrects the file.
struct Diagnostic {
  std::string file;
  SourcePosition at;
  std::string what;         ///< the mistake: "unknown name 'colz' in expression 'colz / 4'"
  std::string expected;     ///< the expected text or the remedy: "an axis, scalar, parameter ..."
  bool unsupported = false; ///< no mistake: this device lacks the requested feature
};

/// True if there is at least one diagnostic and all are `unsupported`: the file needs no
/// correction.
bool all_unsupported(const std::vector<Diagnostic>& diagnostics);

/// "file:line:column: what; expected ...", without the unknown parts.
std::string to_string(const Diagnostic& diagnostic);

} // namespace winnow
