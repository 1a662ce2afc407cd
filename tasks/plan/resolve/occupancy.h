#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/plan/signature.h"

#include <cstdint>
#include <optional>

namespace winnow::tasks {

/// How many blocks of a kernel fit on one multiprocessor at once, by the rules of the CUDA
/// occupancy calculator (cuda_occupancy.h): the minimum over the limits for threads, blocks,
/// registers and shared memory. 0 if the kernel does not fit, or if `facts` lack the limits (only
/// CUDA devices have them).
std::int64_t resident_blocks_per_sm(const DeviceFacts& facts, const KernelResources& kernel,
                                    std::int64_t block_threads, std::int64_t dynamic_shared_bytes);

/// The number of registers that a block takes from DeviceFacts::registers_per_block. nullopt if
/// `facts` do not give the allocation unit.
std::optional<std::int64_t> registers_of_block(const DeviceFacts& facts,
                                               const KernelResources& kernel,
                                               std::int64_t block_threads);

} // namespace winnow::tasks
