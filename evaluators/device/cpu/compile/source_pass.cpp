#include "evaluators/device/cpu/compile/source_pass.h"

#include "base/text.h"
#include "evaluators/device/cpu/compile/shared_rewrite.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using Kind = Token::Kind;
using Names = std::set<std::string, std::less<>>;

// "ns::softmax<128>" -> "softmax"; empty when `name` is no kernel name.
std::string base_name(const std::string& name) {
  const std::vector<Token> tokens = tokenize(name);
  std::size_t at = 0;
  while (at + 1 < tokens.size() && tokens[at].kind == Kind::Identifier &&
         tokens[at + 1].text == "::") {
    at += 2;
  }
  if (at >= tokens.size() || tokens[at].kind != Kind::Identifier) {
    return {};
  }
  const bool plain = at + 1 == tokens.size();
  const bool instance = at + 1 < tokens.size() && tokens[at + 1].text == "<" &&
                        find_close(tokens, at + 1) == tokens.size() - 1;
  const bool clean = name.find_first_of(";{}#\"\\\n\r") == std::string::npos;
  return (plain || instance) && clean ? std::string(tokens[at].text) : std::string();
}

// Names that macros may build cannot be seen here: then only the compiler can tell.
bool macros_may_define_kernels(const std::vector<Token>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.kind == Kind::Directive &&
           (token.text.find("##") != std::string_view::npos ||
            token.text.find("__global__") != std::string_view::npos);
  });
}

std::optional<SourceMistake> check_kernel(const std::string& kernel, const SourceScan& scan,
                                          const std::vector<Token>& tokens) {
  const std::string name = base_name(kernel);
  if (name.empty()) {
    return SourceMistake{0,
                         "'" + kernel + "' is not the name of a kernel: write NAME or NAME<ARGS>"};
  }
  const KernelDeclaration* first = nullptr;
  std::vector<std::string> known;
  bool declared = false;
  for (const KernelDeclaration& candidate : scan.kernels) {
    known.push_back(candidate.name);
    declared = declared || candidate.name == name;
    if (candidate.name != name || !candidate.definition || candidate.specialisation ||
        candidate.conditional) {
      continue;
    }
    if (first != nullptr) {
      return SourceMistake{candidate.line, fmt::format("kernel '{}' is defined twice, in lines {} "
                                                       "and {}: keep one, or rename one",
                                                       name, first->line, candidate.line)};
    }
    first = &candidate;
  }
  if (declared || macros_may_define_kernels(tokens)) {
    return std::nullopt;
  }
  const auto use = std::find_if(tokens.begin(), tokens.end(),
                                [&](const Token& token) { return token.text == name; });
  if (use != tokens.end()) {
    return SourceMistake{use->line, "the plan launches '" + name +
                                        "', which is not declared __global__ in the source"};
  }
  return SourceMistake{0, "the plan launches kernel '" + name +
                              "', which the source does not define" + suggestion(name, known)};
}

std::optional<SourceMistake> check_input(const SourcePassInput& input) {
  const std::size_t nul = input.source.find('\0');
  if (nul != std::string::npos) {
    const auto end = input.source.begin() + static_cast<std::ptrdiff_t>(nul);
    return SourceMistake{static_cast<int>(std::count(input.source.begin(), end, '\n')) + 1,
                         "the source holds a NUL byte"};
  }
  for (const auto& [name, value] : input.parameters) {
    if (!is_identifier(name)) {
      return SourceMistake{0, "parameter '" + name + "' is no name that C++ could use"};
    }
  }
  if (input.kernels.empty()) {
    return SourceMistake{0, "the plan launches no kernel"};
  }
  return std::nullopt;
}

// Constants rather than macros: template and function parameters often have the same name. Only
// what #if lines test must be a macro.
std::string parameter_lines(const SourcePassInput& input, const Names& tested,
                            const Names& template_parameters) {
  std::string out;
  for (const auto& [name, value] : input.parameters) {
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

// The names of a kernel's parameters as a string literal, each ended by \0.
std::string parameter_names(const std::string& kernel, const SourceScan& scan) {
  const std::string name = base_name(kernel);
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

// File-scope `extern __shared__` names have to point at the block's memory before a kernel starts.
std::string binding_wrappers(const SourcePassInput& input,
                             const std::vector<std::string>& bindings) {
  std::string out = "static inline void winnow_bind_shared() {\n";
  for (const std::string& binding : bindings) {
    out += "  " + binding + "\n";
  }
  out += "}\n";
  for (std::size_t i = 0; i < input.kernels.size(); ++i) {
    out +=
        fmt::format("#line 1 \"{0}\"\n"
                    "static constexpr WinnowKernel winnow_inner_{1} = WINNOW_KERNEL(\"\", {2});\n"
                    "static void winnow_thread_{1}(void* const* a, const WinnowCoordinates* at) {{ "
                    "winnow_bind_shared(); winnow_inner_{1}.run_thread(a, at); }}\n"
                    "static void winnow_block_{1}(void* const* a, const WinnowCoordinates* at) {{ "
                    "winnow_bind_shared(); winnow_inner_{1}.run_block(a, at); }}\n",
                    kPlanFile, i, input.kernels[i]);
  }
  return out;
}

std::string kernel_table(const SourcePassInput& input, const SourceScan& scan,
                         const std::vector<std::string>& bindings) {
  std::string out = bindings.empty() ? "" : binding_wrappers(input, bindings);
  for (std::size_t i = 0; i < input.kernels.size(); ++i) {
    out += fmt::format("#line 1 \"{}\"\nWINNOW_SIGNATURE({}, {}, {})\n", kPlanFile, i,
                       parameter_names(input.kernels[i], scan), input.kernels[i]);
  }
  out += "extern \"C\" const WinnowKernel winnow_kernels[] = {\n";
  for (std::size_t i = 0; i < input.kernels.size(); ++i) {
    const std::string& name = input.kernels[i];
    out +=
        bindings.empty()
            ? fmt::format("#line 1 \"{}\"\n  WINNOW_KERNEL(\"{}\", {}),\n", kPlanFile, name, name)
            : fmt::format("  {{\"{0}\", &winnow_thread_{1}, &winnow_block_{1}}},\n", name, i);
  }
  return out + "};\nWINNOW_MODULE\n";
}

} // namespace

SourcePassResult run_source_pass(const SourcePassInput& input) {
  SourcePassResult result;
  result.mistake = check_input(input);
  if (result.mistake) {
    return result;
  }
  const std::string source = normalise_source(input.source);
  const std::vector<Token> tokens = tokenize(source);
  result.scan = scan_source(tokens);
  Names parameters;
  for (const auto& [name, value] : input.parameters) {
    parameters.insert(name);
  }
  DirectiveResult directives = check_directives(tokens, result.scan, input.headers, parameters);
  result.mistake = std::move(directives.mistake);
  for (const std::string& kernel : input.kernels) {
    if (!result.mistake) {
      result.mistake = check_kernel(kernel, result.scan, tokens);
    }
  }
  if (result.mistake) {
    return result;
  }
  std::vector<SourceEdit> edits = std::move(directives.edits);
  for (const Token& token : tokens) {
    // The device headers refuse the other two spellings of asm, for which they use this one.
    if (token.kind == Kind::Identifier && token.text == "__asm") {
      edits.push_back({token.begin, token.end, "asm"});
    }
  }
  SharedRewrite shared = rewrite_shared(source, tokens, result.scan);
  edits.insert(edits.end(), shared.edits.begin(), shared.edits.end());
  result.translated =
      "#include \"winnow_cpu.h\"\n" +
      parameter_lines(input, directives.tested_parameters, result.scan.template_parameters) +
      "#line 1 \"" + kCandidateFile + "\"\n" + apply_edits(source, std::move(edits)) +
      "\n#line 1 \"winnow_module\"\n#include \"winnow_entry.h\"\n" +
      kernel_table(input, result.scan, shared.bindings);
  return result;
}

} // namespace winnow::evaluators
