#include "evaluators/device/cpu/compile/source_pass.h"

#include "evaluators/device/cpu/compile/shared_rewrite.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// Wraps kernels so that file-scope `extern __shared__` names point at the block's memory first.
std::string binding_wrappers(const SourceInput& input, const std::vector<std::string>& bindings) {
  std::string out = "static inline void winnow_bind_shared() {\n";
  for (const std::string& binding : bindings) {
    out += "  " + binding + "\n";
  }
  out += "}\n";
  for (std::size_t i = 0; i < input.kernels.size(); ++i) {
    out +=
        fmt::format("#line {3} \"{0}\"\n"
                    "static constexpr WinnowKernel winnow_inner_{1} = WINNOW_KERNEL(\"\", {2});\n"
                    "static void winnow_thread_{1}(void* const* a, const WinnowCoordinates* at) {{ "
                    "winnow_bind_shared(); winnow_inner_{1}.run_thread(a, at); }}\n"
                    "static void winnow_block_{1}(void* const* a, const WinnowCoordinates* at) {{ "
                    "winnow_bind_shared(); winnow_inner_{1}.run_block(a, at); }}\n",
                    kPlanFile, i, input.kernels[i], i + 1);
  }
  return out;
}

std::string kernel_table(const SourceInput& input, const SourceScan& scan,
                         const std::vector<std::string>& bindings) {
  std::string out = bindings.empty() ? "" : binding_wrappers(input, bindings);
  out += entry_lines(input.kernels, input.constants, scan);
  out += "extern \"C\" const WinnowKernel winnow_kernels[] = {\n";
  for (std::size_t i = 0; i < input.kernels.size(); ++i) {
    const std::string& name = input.kernels[i];
    out += bindings.empty()
               ? fmt::format("#line {} \"{}\"\n  WINNOW_KERNEL(\"{}\", {}),\n", i + 1, kPlanFile,
                             name, name)
               : fmt::format("  {{\"{0}\", &winnow_thread_{1}, &winnow_block_{1}}},\n", name, i);
  }
  return out + "};\nWINNOW_MODULE\n";
}

std::string refuse_library(const std::string& header) {
  static const std::set<std::string_view> kLibraries{"cub", "cute", "cutlass", "thrust"};
  const bool library = kLibraries.count(std::string_view(header).substr(0, header.find('/'))) != 0;
  return library ? "winnow-unsupported: <" + header + ">" : std::string();
}

// Built-in functions of the processor's vector unit can reach memory without a load or store that
// check mode sees.
std::optional<SourceMistake> check_builtins(const std::vector<Token>& tokens) {
  for (const Token& token : tokens) {
    if (token.text.find("__builtin_ia32_") != std::string_view::npos) {
      return SourceMistake{token.line, "winnow-unsupported: built-in functions of the host"};
    }
  }
  return std::nullopt;
}

SourceAdditions additions(const SourceInput& input, std::string_view source,
                          const std::vector<Token>& tokens, const SourceScan& scan) {
  SourceAdditions added{check_builtins(tokens), {}, {}};
  if (added.mistake) {
    return added;
  }
  for (const Token& token : tokens) {
    // The device headers define the other two spellings of asm as errors, and those errors use this
    // one.
    if (token.kind == Token::Kind::Identifier && token.text == "__asm") {
      added.edits.push_back({token.begin, token.end, "asm"});
    }
  }
  SharedRewrite shared = rewrite_shared(source, tokens, scan);
  added.edits.insert(added.edits.end(), shared.edits.begin(), shared.edits.end());
  added.entries = kernel_table(input, scan, shared.bindings);
  return added;
}

} // namespace

TranslatedSource run_source_pass(SourceInput input) {
  input.prelude = "winnow_cpu.h";
  input.headers.refusal = refuse_library;
  return translate_source(
      input, [&](std::string_view source, const std::vector<Token>& tokens,
                 const SourceScan& scan) { return additions(input, source, tokens, scan); });
}

} // namespace winnow::evaluators
