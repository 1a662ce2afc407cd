#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/hip/compile/hiprtc.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

struct Architecture {
  const char* name;
  int rocm_major; ///< first ROCm version whose hiprtc is used for this architecture
  int wave;       ///< lanes per wave, with the compiler's default
  int shared_bytes_per_block = 65536;
};

// ROCm 5: the architectures for which HIP 5.2's hiprtc was seen to compile; it aborts on any other.
// The others follow the release notes of ROCm 6 and 7. Late versions of ROCm 5 know some of them,
// too, but a library's name shows only the major version.
constexpr Architecture kArchitectures[] = {
    {"gfx803", 5, 64},  {"gfx900", 5, 64},  {"gfx906", 5, 64},  {"gfx908", 5, 64},
    {"gfx90a", 5, 64},  {"gfx90c", 5, 64},  {"gfx1010", 5, 32}, {"gfx1030", 5, 32},
    {"gfx1035", 5, 32}, {"gfx942", 6, 64},  {"gfx1100", 6, 32}, {"gfx1101", 6, 32},
    {"gfx1102", 6, 32}, {"gfx1200", 7, 32}, {"gfx1201", 7, 32}, {"gfx950", 7, 64, 163840},
};

constexpr int kNewestRocm = 7;

} // namespace

std::vector<std::string> hip_architectures(int rocm_major) {
  std::vector<std::string> known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.rocm_major <= rocm_major) {
      known.emplace_back(architecture.name);
    }
  }
  return known;
}

tasks::DeviceFacts hip_architecture_facts(const std::string& architecture) {
  const auto* found =
      std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                   [&](const Architecture& known) { return architecture == known.name; });
  if (found == std::end(kArchitectures)) {
    throw Error(fmt::format("unknown AMD GPU architecture '{}'", architecture),
                "known: " + join(hip_architectures(kNewestRocm), ", "));
  }
  tasks::DeviceFacts facts;
  facts.architecture = architecture;
  facts.warp_size = found->wave;
  facts.max_block_z = 1024;
  facts.max_shared_bytes = found->shared_bytes_per_block;
  facts.max_static_shared_bytes = found->shared_bytes_per_block;
  facts.shared_bytes_per_sm = found->shared_bytes_per_block;
  return facts;
}

} // namespace winnow::evaluators
