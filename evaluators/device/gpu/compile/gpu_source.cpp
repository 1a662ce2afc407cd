#include "evaluators/device/gpu/compile/gpu_source.h"

#include "tasks/inputs/dtype.h"

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

// Vendor headers that a message may suggest for a misspelt name, beside those of dtypes.
constexpr const char* kOftenMeant[] = {"cooperative_groups.h",
                                       "cooperative_groups/memcpy_async.h",
                                       "cooperative_groups/reduce.h",
                                       "cub/cub.cuh",
                                       "cuda/barrier",
                                       "cuda/pipeline",
                                       "cuda/ptx",
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

} // namespace

HeaderRules gpu_header_rules(const GpuToolchain& toolchain, const fs::path& headers) {
  HeaderRules rules;
  rules.names = header_names(headers, {toolchain.kind, "common"});
  if (!toolchain.include_directories.empty()) {
    rules.names.insert(rules.names.end(), std::begin(kOftenMeant), std::end(kOftenMeant));
    for (const std::string_view header : tasks::dtype_headers()) {
      rules.names.emplace_back(header);
    }
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
