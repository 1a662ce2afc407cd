#include "evaluators/device/vendors/named_gpus.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/vendors/gpu_vendors.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

struct Model {
  const char* name;
  const char* kind;
  const char* architecture;
  std::int64_t multiprocessors;
  double l2_mebibytes;
  double gigabytes;            ///< of memory
  double gigabytes_per_second; ///< of memory
  double clock_mhz;            ///< the highest one
};

constexpr Model kModels[] = {
    {"T4", "cuda", "sm_75", 40, 4, 16, 320, 1590},
    {"A100", "cuda", "sm_80", 108, 40, 80, 2039, 1410},
    {"A100-40GB", "cuda", "sm_80", 108, 40, 40, 1555, 1410},
    {"A10", "cuda", "sm_86", 72, 6, 24, 600, 1695},
    {"RTX-3090", "cuda", "sm_86", 82, 6, 24, 936, 1695},
    {"L4", "cuda", "sm_89", 58, 48, 24, 300, 2040},
    {"L40S", "cuda", "sm_89", 142, 96, 48, 864, 2520},
    {"RTX-4090", "cuda", "sm_89", 128, 72, 24, 1008, 2520},
    {"H100", "cuda", "sm_90a", 132, 50, 80, 3352, 1980},
    {"H100-PCIe", "cuda", "sm_90a", 114, 50, 80, 2039, 1755},
    {"H200", "cuda", "sm_90a", 132, 60, 141, 4814, 1980},
    {"B200", "cuda", "sm_100a", 148, 126, 180, 7672, 1965},
    {"RTX-5090", "cuda", "sm_120", 170, 96, 32, 1792, 2407},
    {"MI210", "hip", "gfx90a", 104, 8, 64, 1638, 1700},
    {"MI250X", "hip", "gfx90a", 110, 8, 64, 1638, 1700}, ///< one of its two dies
    {"MI300X", "hip", "gfx942", 304, 4, 192, 5325, 2100},
};

/// The letters and digits, without the vendor: "NVIDIA H100 PCIe" is "h100pcie".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const std::string_view vendor : {"nvidia", "geforce", "amd", "instinct"}) {
    plain.erase(0, plain.starts_with(vendor) ? vendor.size() : 0);
  }
  return plain;
}

} // namespace

DeviceReport gpu_of_architecture(const std::string& kind, const std::string& architecture) {
  DeviceReport device;
  device.kind = device.id = kind;
  device.name = architecture;
  device.facts = gpu_vendor(kind).architecture_facts(architecture);
  return device;
}

DeviceReport named_gpu(const std::string& name) {
  const auto* const found = std::find_if(
      std::begin(kModels), std::end(kModels),
      [plain = plain_name(name)](const Model& model) { return plain_name(model.name) == plain; });
  if (found == std::end(kModels)) {
    std::vector<std::string> known;
    for (const Model& model : kModels) {
      known.emplace_back(model.name);
    }
    throw UsageError(fmt::format("unknown GPU '{}'{}", name, suggestion(name, known)),
                     "name one of " + join(known, ", ") + "; or only its architecture");
  }
  constexpr double kMebibyte = 1024.0 * 1024.0;
  constexpr double kGiga = 1e9;
  constexpr std::int64_t kMemoryShare = 4; // several processes share the memory of a GPU
  DeviceReport device = gpu_of_architecture(found->kind, found->architecture);
  device.name = found->name;
  device.facts.sm_count = found->multiprocessors;
  device.facts.l2_bytes = static_cast<std::int64_t>(found->l2_mebibytes * kMebibyte);
  device.facts.memory_bytes = static_cast<std::int64_t>(found->gigabytes * kGiga) / kMemoryShare;
  device.facts.peak_bytes_per_second = found->gigabytes_per_second * kGiga;
  device.facts.clock_mhz = found->clock_mhz;
  return device;
}

} // namespace winnow::evaluators
