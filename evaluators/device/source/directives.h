#pragma once

#include "evaluators/device/source/source_scan.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A replacement of bytes [begin, end) of the source.
struct SourceEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// Applies edits, in any order; edits must not overlap. If an edit removes line ends, they are
/// added behind its text, so that later lines keep their numbers.
std::string apply_edits(std::string_view source, std::vector<SourceEdit> edits);

/// A mistake that Winnow finds without a compiler.
struct SourceMistake {
  int line = 0; ///< 0: in the plan, not in the source
  std::string what;
  int column = 0; ///< 0: the whole line
};

/// Which headers a source may include. A header is named by its path as written between <> or "".
struct HeaderRules {
  /// Allowed names. For a misspelt name, a message suggests the nearest of these.
  std::vector<std::string> names;
  /// Tells whether a further header is allowed. Called only for plain relative paths. May be empty.
  std::function<bool(const std::string& header)> also;
  /// The message for a header that is not allowed. If empty, or if it returns an empty text, the
  /// message lists the names.
  std::function<std::string(const std::string& header)> refusal;
};

/// The names of all headers in these folders below `headers`.
std::vector<std::string> header_names(const std::filesystem::path& headers,
                                      const std::vector<std::string>& trees);

/// The edits that a source's preprocessor lines need before a compiler may read the source.
struct DirectiveResult {
  std::vector<SourceEdit> edits;
  std::optional<SourceMistake> mistake;
  /// Parameters in #if, #ifdef or #ifndef lines, which the preprocessor must know.
  std::set<std::string, std::less<>> tested_parameters;
};

/// Allows includes of allowed headers and rejects all others. The text of another file must not
/// reach a compiler, because the compiler's messages go to a model. Removes line markers, too,
/// because compilers quote lines of the files named there.
DirectiveResult check_directives(const std::vector<Token>& tokens, const SourceScan& scan,
                                 const HeaderRules& headers,
                                 const std::set<std::string, std::less<>>& parameters);

} // namespace winnow::evaluators
