#include "evaluators/device/inspect/module_features.h"

#include "evaluators/device/inspect/sass.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {

std::string kernel_count(std::size_t kernels) {
  return fmt::format("{} kernel{}", kernels, kernels == 1 ? "" : "s");
}

std::vector<std::string> cubin_features(const ElfReader& cubin, const std::string& architecture,
                                        std::size_t kernels) {
  std::vector<std::string> features{kernel_count(kernels)};
  if (!has_known_sass(architecture)) {
    return features;
  }
  SassCounts counts;
  for (const ElfSection& section : cubin.sections()) {
    if (section.name.starts_with(".text.")) {
      counts += count_sass(cubin.section_bytes(section));
    }
  }
  const std::array<std::pair<std::size_t, const char*>, 5> classes{
      {{counts.warp_products, "mma"},
       {counts.group_products, "wgmma"},
       {counts.block_products, "tcgen05.mma"},
       {counts.thread_copies, "cp.async"},
       {counts.bulk_copies, "cp.async.bulk"}}};
  for (const auto& [count, name] : classes) {
    if (count > 0) {
      features.emplace_back(name);
    }
  }
  return features;
}

std::vector<std::string> cpu_features(const ElfReader& module, std::size_t kernels) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kCalls{
      {{"winnow_barrier", "block barriers"},
       {"winnow_gather", "warp operations"},
       {"winnow_grid_barrier", "grid barriers"},
       {"winnow_dynamic_shared", "dynamic shared memory"}}};
  std::vector<std::string> features{kernel_count(kernels)};
  const std::vector<std::string> calls = module.undefined_symbols();
  for (const auto& [symbol, name] : kCalls) {
    if (std::find(calls.begin(), calls.end(), symbol) != calls.end()) {
      features.emplace_back(name);
    }
  }
  return features;
}

} // namespace winnow::evaluators
