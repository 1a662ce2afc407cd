// The rules of cuda_occupancy.h in CUDA 13.0, for compute capability 7.0 and later with the default
// split of L1 cache and shared memory.
#include "tasks/plan/resolve/occupancy.h"

#include "tasks/plan/architecture.h"

#include <algorithm>
#include <limits>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kMaxRegistersPerThread = 256;
constexpr std::int64_t kRegisterGranularity = 256; // registers are allocated to a warp in this unit
constexpr std::int64_t kSubPartitions = 4; // of a multiprocessor; each has its own registers
constexpr int kFirstMajor = 7;
constexpr int kLastMajor = 12;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

// "sm_90a" -> 9. nullopt for other devices and for architectures with unknown rules.
std::optional<int> compute_major(const DeviceFacts& facts) {
  const int major = compute_capability(facts.architecture) / 10;
  return major >= kFirstMajor && major <= kLastMajor ? std::optional(major) : std::nullopt;
}

std::int64_t registers_of_warp(const DeviceFacts& facts, const KernelResources& kernel) {
  return round_up(kernel.registers * facts.warp_size, kRegisterGranularity);
}

std::int64_t register_limit(const DeviceFacts& facts, const KernelResources& kernel,
                            std::int64_t block_threads) {
  if (kernel.registers > kMaxRegistersPerThread ||
      registers_of_block(facts, kernel, block_threads).value_or(0) > facts.registers_per_block) {
    return 0;
  }
  const std::int64_t of_warp = registers_of_warp(facts, kernel);
  if (of_warp == 0) {
    return std::numeric_limits<std::int64_t>::max();
  }
  const std::int64_t warps = facts.registers_per_sm / kSubPartitions / of_warp * kSubPartitions;
  return warps / divide_up(block_threads, facts.warp_size);
}

std::int64_t shared_limit(const DeviceFacts& facts, int major, const KernelResources& kernel,
                          std::int64_t dynamic_shared_bytes) {
  const std::int64_t granularity = major == kFirstMajor ? 256 : 128;
  const std::int64_t bytes = round_up(
      kernel.static_shared_bytes + facts.reserved_shared_bytes + dynamic_shared_bytes, granularity);
  if (bytes > facts.max_shared_bytes + facts.reserved_shared_bytes) {
    return 0;
  }
  return bytes == 0 ? std::numeric_limits<std::int64_t>::max() : facts.shared_bytes_per_sm / bytes;
}

} // namespace

std::optional<std::int64_t> registers_of_block(const DeviceFacts& facts,
                                               const KernelResources& kernel,
                                               std::int64_t block_threads) {
  if (!compute_major(facts) || facts.registers_per_block == 0) {
    return std::nullopt;
  }
  // The hardware allocates as if every sub-partition had the same number of warps.
  const std::int64_t warps = divide_up(block_threads, facts.warp_size);
  return registers_of_warp(facts, kernel) * round_up(warps, kSubPartitions);
}

std::int64_t resident_blocks_per_sm(const DeviceFacts& facts, const KernelResources& kernel,
                                    std::int64_t block_threads, std::int64_t dynamic_shared_bytes) {
  const auto major = compute_major(facts);
  if (!major || facts.max_threads_per_sm == 0 || block_threads > facts.max_threads_per_block) {
    return 0;
  }
  const std::int64_t warps = divide_up(block_threads, facts.warp_size);
  return std::min({facts.max_threads_per_sm / facts.warp_size / warps, facts.max_blocks_per_sm,
                   register_limit(facts, kernel, block_threads),
                   shared_limit(facts, *major, kernel, dynamic_shared_bytes)});
}

} // namespace winnow::tasks
