#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/cuda/compile/nvrtc.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::int64_t kKiB = 1024;

struct Architecture {
  const char* name;
  std::int64_t threads_per_sm;
  std::int64_t blocks_per_sm;
  std::int64_t shared_per_sm;    // KiB
  std::int64_t shared_per_block; // KiB of dynamic shared memory, after the opt-in
  bool clusters;
};

constexpr std::array<Architecture, 10> kArchitectures{{
    {"sm_75", 1024, 16, 64, 64, false},
    {"sm_80", 2048, 32, 164, 163, false},
    {"sm_86", 1536, 16, 100, 99, false},
    {"sm_87", 1536, 16, 164, 163, false},
    {"sm_89", 1536, 24, 100, 99, false},
    {"sm_90", 2048, 32, 228, 227, true},
    {"sm_90a", 2048, 32, 228, 227, true},
    {"sm_100", 2048, 32, 228, 227, true},
    {"sm_100a", 2048, 32, 228, 227, true},
    {"sm_120", 1536, 24, 100, 99, true},
}};

} // namespace

tasks::DeviceFacts cuda_architecture_facts(const std::string& architecture) {
  const auto* const found =
      std::find_if(kArchitectures.begin(), kArchitectures.end(),
                   [&](const Architecture& known) { return known.name == architecture; });
  if (found == kArchitectures.end()) {
    std::vector<std::string> names;
    for (const Architecture& known : kArchitectures) {
      names.emplace_back(known.name);
    }
    throw UsageError(
        fmt::format("unknown CUDA architecture '{}'; known: {}", architecture, join(names, ", ")));
  }
  tasks::DeviceFacts facts;
  facts.architecture = architecture;
  facts.max_threads_per_sm = found->threads_per_sm;
  facts.max_blocks_per_sm = found->blocks_per_sm;
  facts.shared_bytes_per_sm = found->shared_per_sm * kKiB;
  facts.max_shared_bytes = found->shared_per_block * kKiB;
  facts.max_static_shared_bytes = 48 * kKiB;
  facts.reserved_shared_bytes = architecture == "sm_75" ? 0 : kKiB;
  facts.registers_per_sm = facts.registers_per_block = 64 * kKiB;
  facts.max_cluster_blocks = found->clusters ? 8 : 0;
  facts.tensor_maps = found->clusters;
  facts.memory_bytes = std::int64_t{16} << 30;
  return facts;
}

} // namespace winnow::evaluators
