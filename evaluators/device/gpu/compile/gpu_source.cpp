#include "evaluators/device/gpu/compile/gpu_source.h"

#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/kernel_names.h"

#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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

namespace fs = std::filesystem;

// Vendor headers that a message may suggest for a misspelt name.
constexpr const char* kOftenMeant[] = {"cooperative_groups.h",
                                       "cooperative_groups/memcpy_async.h",
                                       "cooperative_groups/reduce.h",
                                       "cub/cub.cuh",
                                       "cuda/barrier",
                                       "cuda/pipeline",
                                       "cuda/ptx",
                                       "cuda_bf16.h",
                                       "cuda_fp16.h",
                                       "cuda_fp8.h",
                                       "cuda_pipeline.h",
                                       "cuda_runtime.h",
                                       "curand_kernel.h",
                                       "mma.h"};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool is_host_library(const std::string& header) {
  for (const char* library : {"thrust/", "cub/device/", "cublas", "cudnn", "cufft", "cusparse",
                              "cusolver", "nccl", "nvrtc", "cudaProfiler", "cuda_profiler"}) {
    if (starts_with(header, library)) {
      return true;
    }
  }
  return false;
}

std::string refusal(const std::string& header) {
  const std::string cannot = "cannot include <" + header + ">: ";
  if (starts_with(header, "cutlass/") || starts_with(header, "cute/")) {
    return cannot + "CUTLASS and CuTe are not available: use mma.h (wmma), inline PTX (mma, wgmma, "
                    "TMA) or plain CUDA";
  }
  if (starts_with(header, "cub/device/")) {
    return cannot +
           "device-wide algorithms are host code: use cub::Block* and cub::Warp*, or write "
           "the passes as kernels of the plan";
  }
  if (is_host_library(header)) {
    return cannot + "it belongs to a host library: there is no host code here, only device code "
                    "and a plan";
  }
  return {};
}

std::vector<std::string> names_below(const fs::path& root) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) {
      names.push_back(entry.path().lexically_relative(root).string());
    }
  }
  return names;
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

HeaderRules gpu_header_rules(const GpuToolchain& toolchain, const fs::path& headers) {
  HeaderRules rules;
  for (const fs::path& tree : {headers / toolchain.kind, headers / "common"}) {
    const std::vector<std::string> names = names_below(tree);
    rules.names.insert(rules.names.end(), names.begin(), names.end());
  }
  if (!toolchain.include_directories.empty()) {
    rules.names.insert(rules.names.end(), std::begin(kOftenMeant), std::end(kOftenMeant));
  }
  rules.also = [directories = toolchain.include_directories](const std::string& header) {
    for (const fs::path& directory : directories) {
      std::error_code error;
      if (!is_host_library(header) && fs::is_regular_file(directory / header, error)) {
        return true;
      }
    }
    return false;
  };
  rules.refusal = refusal;
  return rules;
}

} // namespace winnow::evaluators
