#pragma once

#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/source_scan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// The file names that compilers see: for the candidate's code, the plan's kernel names, and the
/// rest.
constexpr const char* kCandidateFile = "winnow_candidate.cu";
constexpr const char* kPlanFile = "winnow_plan";
constexpr const char* kModuleFile = "winnow_module";

struct SourceInput {
  std::string source; ///< KernelFile::source
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels;   ///< instantiated names: "softmax<128>"
  std::vector<std::string> constants; ///< constant expressions whose values are read back
  HeaderRules headers;                ///< the headers that may be included
  std::string prelude = {};           ///< first header of the unit: "winnow_cuda.h"
};

struct TranslatedSource {
  /// The text for the compiler. It has the prelude, the parameters, the code with its own line
  /// numbers (file kCandidateFile), and the entries. Empty when there is a mistake.
  std::string translated;
  std::optional<SourceMistake> mistake;
  SourceScan scan; ///< its tokens are gone; only kernels and hints are valid
};

/// What one kind of device adds to a translation.
struct SourceAdditions {
  std::optional<SourceMistake> mistake;
  std::vector<SourceEdit> edits;
  std::string entries; ///< in place of entry_lines()
};
using AddToSource = std::function<SourceAdditions(
    std::string_view source, const std::vector<Token>& tokens, const SourceScan& scan)>;

/// Turns a candidate's code into a translation unit. `add` may be empty. A pure function.
TranslatedSource translate_source(const SourceInput& input, const AddToSource& add = {});

/// The lines that follow winnow_entry.h. They store the signatures of the plan's kernels and the
/// values of the constants in the module (entry_symbols.h). In kPlanFile each is a line of its own:
/// kernels from line 1 on, then the constants.
std::string entry_lines(const std::vector<std::string>& kernels,
                        const std::vector<std::string>& constants, const SourceScan& scan);

} // namespace winnow::evaluators
