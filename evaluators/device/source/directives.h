#pragma once

#include "evaluators/device/source/source_edits.h"
#include "evaluators/device/source/source_scan.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A mistake that needs no compiler to see.
struct SourceMistake {
  int line = 0; ///< 0: not in the source (the plan)
  std::string what;
  int column = 0; ///< 0: the whole line
};

/// Which headers a source may include, by their paths as written between <> or "".
struct HeaderRules {
  std::vector<std::string> names; ///< allowed; the nearest is suggested for a misspelt one
  /// More that are allowed; asked for plain relative paths only. May be empty.
  std::function<bool(const std::string& header)> also;
  /// What to say of a header that is not allowed; where empty or nothing is said, the names are.
  std::function<std::string(const std::string& header)> refusal;
};

/// What the preprocessor lines of a source need before any compiler may read them.
struct DirectiveResult {
  std::vector<SourceEdit> edits;
  std::optional<SourceMistake> mistake;
  /// Parameters that #if, #ifdef or #ifndef lines test: the preprocessor has to know them.
  std::set<std::string, std::less<>> tested_parameters;
};

/// Lets includes of allowed headers through and nothing else: no other file's text may reach a
/// compiler, whose messages go to a model. Line markers go too, as compilers quote the files that
/// they name.
DirectiveResult check_directives(const std::vector<Token>& tokens, const SourceScan& scan,
                                 const HeaderRules& headers,
                                 const std::set<std::string, std::less<>>& parameters);

} // namespace winnow::evaluators
