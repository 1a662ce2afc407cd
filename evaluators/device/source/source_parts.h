#pragma once

#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/source_scan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The file names that compilers see: for the candidate's code, the plan's kernel names, and the
/// rest.
constexpr const char* kCandidateFile = "winnow_candidate.cu";
constexpr const char* kPlanFile = "winnow_plan";
constexpr const char* kModuleFile = "winnow_module";

using NameSet = std::set<std::string, std::less<>>;

/// Finds mistakes that need no compiler: NUL bytes, parameters that are not names, no kernel at
/// all.
std::optional<SourceMistake> check_input(const std::string& source,
                                         const std::map<std::string, std::int64_t>& parameters,
                                         const std::vector<std::string>& kernels);

NameSet parameter_name_set(const std::map<std::string, std::int64_t>& parameters);

/// Lines that declare the parameters in the code. They are constants rather than macros, because
/// template and function parameters often have the same names. Only a parameter that #if lines test
/// becomes a macro.
std::string parameter_lines(const std::map<std::string, std::int64_t>& parameters,
                            const NameSet& tested, const NameSet& template_parameters);

/// Checks that each constant fits into a line of the source.
std::optional<SourceMistake> check_constants(const std::vector<std::string>& constants);

/// The lines that follow winnow_entry.h. They store the signatures of the plan's kernels and the
/// values of the constants in the module (entry_symbols.h). In kPlanFile each is a line of its own:
/// kernels from line 1 on, then the constants.
std::string entry_lines(const std::vector<std::string>& kernels,
                        const std::vector<std::string>& constants, const SourceScan& scan);

} // namespace winnow::evaluators
