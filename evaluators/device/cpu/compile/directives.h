#pragma once

#include "evaluators/device/cpu/compile/source_edits.h"
#include "evaluators/device/cpu/compile/source_scan.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A mistake that needs no compiler to see.
struct SourceMistake {
  int line = 0; ///< 0: not in the source (the plan)
  std::string what;
};

/// What the preprocessor lines of a source need before any compiler may read them.
struct DirectiveResult {
  std::vector<SourceEdit> edits;
  std::optional<SourceMistake> mistake;
  /// Parameters that #if, #ifdef or #ifndef lines test: the preprocessor has to know them.
  std::set<std::string, std::less<>> tested_parameters;
};

/// Lets includes of `headers` (paths as written between <> or "") through and nothing else: no
/// other file's text may reach a compiler, whose messages go to a model. Line markers go too, as
/// compilers quote the files that they name.
DirectiveResult check_directives(const std::vector<Token>& tokens, const SourceScan& scan,
                                 const std::vector<std::string>& headers,
                                 const std::set<std::string, std::less<>>& parameters);

} // namespace winnow::evaluators
