#include "evaluators/device/gpu/compile/gpu_source.h"

#include "evaluators/device/source/kernel_names.h"
#include "evaluators/device/source/source_edits.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

std::optional<SourceMistake> find_mistake(const GpuSourceInput& input, const SourceScan& scan,
                                          const std::vector<Token>& tokens,
                                          DirectiveResult& directives) {
  if (directives.mistake) {
    return std::move(directives.mistake);
  }
  if (auto mistake = check_kernels(input.kernels, scan, tokens, input.parameters)) {
    return mistake;
  }
  return check_constants(input.constants);
}

} // namespace

GpuSource assemble_gpu_source(const GpuSourceInput& input) {
  GpuSource result;
  result.mistake = check_input(input.source, input.parameters, input.kernels);
  if (result.mistake) {
    return result;
  }
  const std::string source = tasks::normalise_source(input.source);
  const std::vector<Token> tokens = tasks::tokenize(source);
  result.scan = scan_source(tokens);
  DirectiveResult directives =
      check_directives(tokens, result.scan, input.headers, parameter_name_set(input.parameters));
  result.mistake = find_mistake(input, result.scan, tokens, directives);
  if (result.mistake) {
    return result;
  }
  result.translated = "#include \"" + input.prelude + "\"\n" +
                      parameter_lines(input.parameters, directives.tested_parameters,
                                      result.scan.template_parameters) +
                      "#line 1 \"" + kCandidateFile + "\"\n" +
                      apply_edits(source, std::move(directives.edits)) +
                      fmt::format("\n#line 1 \"{}\"\n#include \"winnow_entry.h\"\n", kModuleFile) +
                      entry_lines(input.kernels, input.constants, result.scan);
  return result;
}

} // namespace winnow::evaluators
