#include "evaluators/device/source/source_parts.h"

#include "evaluators/device/source/kernel_names.h"
#include "tasks/expression/expression.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using NameSet = std::set<std::string, std::less<>>;

/// Finds mistakes that need no compiler: NUL bytes, parameters that are not names, no kernel at
/// all.
std::optional<SourceMistake> check_input(const std::string& source,
                                         const std::map<std::string, std::int64_t>& parameters,
                                         const std::vector<std::string>& kernels) {
  const std::size_t nul = source.find('\0');
  if (nul != std::string::npos) {
    const auto end = source.begin() + static_cast<std::ptrdiff_t>(nul);
    return SourceMistake{static_cast<int>(std::count(source.begin(), end, '\n')) + 1,
                         "the source holds a NUL byte"};
  }
  for (const auto& [name, value] : parameters) {
    if (!tasks::is_identifier(name)) {
      return SourceMistake{0, "parameter '" + name + "' is not a valid name in C++"};
    }
  }
  if (kernels.empty()) {
    return SourceMistake{0, "the plan launches no kernel"};
  }
  return std::nullopt;
}

NameSet parameter_name_set(const std::map<std::string, std::int64_t>& parameters) {
  NameSet names;
  for (const auto& [name, value] : parameters) {
    names.insert(name);
  }
  return names;
}

/// Lines that declare the parameters in the code. They are constants rather than macros, because
/// template and function parameters often have the same names. Only a parameter that #if lines test
/// becomes a macro.
std::string parameter_lines(const std::map<std::string, std::int64_t>& parameters,
                            const NameSet& tested, const NameSet& template_parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    const bool fits =
        value >= std::numeric_limits<int>::min() + 1 && value <= std::numeric_limits<int>::max();
    if (tested.count(name) != 0 && template_parameters.count(name) == 0) {
      out += fmt::format("#define {} {}{}\n", name, value, fits ? "" : "LL");
    } else if (value == std::numeric_limits<std::int64_t>::min()) {
      out += fmt::format("constexpr long long {} = {}LL - 1;\n", name, value + 1);
    } else {
      out += fmt::format("constexpr {} {} = {}{};\n", fits ? "int" : "long long", name, value,
                         fits ? "" : "LL");
    }
  }
  return out;
}

// The names of a kernel's parameters as a string literal; \0 ends each name.
std::string parameter_names(const std::string& kernel, const SourceScan& scan) {
  const std::string name = kernel_base_name(kernel);
  const KernelDeclaration* best = nullptr;
  for (const KernelDeclaration& candidate : scan.kernels) {
    if (candidate.name == name &&
        (best == nullptr || (candidate.definition && !best->definition))) {
      best = &candidate;
    }
  }
  std::string out;
  for (std::size_t i = 0; best != nullptr && i < best->parameters.size(); ++i) {
    out += best->parameters[i] + "\\0";
  }
  return "\"" + out + "\"";
}

/// Checks that each constant fits into a line of the source.
std::optional<SourceMistake> check_constants(const std::vector<std::string>& constants) {
  for (const std::string& constant : constants) {
    // The constant becomes one line of the source, inside brackets.
    if (constant.empty() || constant.find_first_of(";#\"\\\n\r") != std::string::npos) {
      return SourceMistake{0, "'" + constant +
                                  "' is not a constant expression: the text is empty or has " +
                                  "one of ; # \" \\"};
    }
  }
  return std::nullopt;
}

} // namespace

TranslatedSource translate_source(const SourceInput& input, const AddToSource& add) {
  TranslatedSource result;
  result.mistake = check_input(input.source, input.parameters, input.kernels);
  if (result.mistake) {
    return result;
  }
  const std::string source = tasks::normalise_source(input.source);
  const std::vector<Token> tokens = tasks::tokenize(source);
  result.scan = scan_source(tokens);
  DirectiveResult directives =
      check_directives(tokens, result.scan, input.headers, parameter_name_set(input.parameters));
  result.mistake = std::move(directives.mistake);
  if (!result.mistake) {
    result.mistake = check_kernels(input.kernels, result.scan, tokens, input.parameters);
  }
  if (!result.mistake) {
    result.mistake = check_constants(input.constants);
  }
  SourceAdditions added;
  if (!result.mistake && add) {
    added = add(source, tokens, result.scan);
    result.mistake = std::move(added.mistake);
  }
  if (result.mistake) {
    return result;
  }
  directives.edits.insert(directives.edits.end(), added.edits.begin(), added.edits.end());
  result.translated =
      "#include \"" + input.prelude + "\"\n" +
      parameter_lines(input.parameters, directives.tested_parameters,
                      result.scan.template_parameters) +
      "#line 1 \"" + kCandidateFile + "\"\n" + apply_edits(source, std::move(directives.edits)) +
      fmt::format("\n#line 1 \"{}\"\n#include \"winnow_entry.h\"\n", kModuleFile) +
      (add ? added.entries : entry_lines(input.kernels, input.constants, result.scan));
  return result;
}

std::string entry_lines(const std::vector<std::string>& kernels,
                        const std::vector<std::string>& constants, const SourceScan& scan) {
  std::string out;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    out += fmt::format("#line {} \"{}\"\nWINNOW_SIGNATURE({}, {}, {})\n", i + 1, kPlanFile, i,
                       parameter_names(kernels[i], scan), kernels[i]);
  }
  for (std::size_t i = 0; i < constants.size(); ++i) {
    out += fmt::format("#line {} \"{}\"\nWINNOW_CONSTANT({}, {})\n", kernels.size() + i + 1,
                       kPlanFile, i, constants[i]);
  }
  return out;
}

} // namespace winnow::evaluators
