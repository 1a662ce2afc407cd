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

/// The file names that compilers see for the candidate's code, the plan's kernel names and the
/// rest.
constexpr const char* kCandidateFile = "winnow_candidate.cu";
constexpr const char* kPlanFile = "winnow_plan";
constexpr const char* kModuleFile = "winnow_module";

using NameSet = std::set<std::string, std::less<>>;

/// What no compiler need be asked for: NUL bytes, parameters that are no names, no kernel at all.
std::optional<SourceMistake> check_input(const std::string& source,
                                         const std::map<std::string, std::int64_t>& parameters,
                                         const std::vector<std::string>& kernels);

NameSet parameter_name_set(const std::map<std::string, std::int64_t>& parameters);

/// Lines that make the parameters visible to the code. Constants rather than macros: template and
/// function parameters often have the same name. Only what #if lines test must be a macro.
std::string parameter_lines(const std::map<std::string, std::int64_t>& parameters,
                            const NameSet& tested, const NameSet& template_parameters);

/// Whether each can stand in a line of the source.
std::optional<SourceMistake> check_constants(const std::vector<std::string>& constants);

/// The lines behind winnow_entry.h: what the compiler makes of the plan's kernels and constants, to
/// be read back from the module (entry_symbols.h). Each is a line of kPlanFile: kernels from 1 on,
/// then the constants.
std::string entry_lines(const std::vector<std::string>& kernels,
                        const std::vector<std::string>& constants, const SourceScan& scan);

} // namespace winnow::evaluators
