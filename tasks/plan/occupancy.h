#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/plan/signature.h"

#include <cstdint>
#include <optional>

namespace winnow::tasks {

/// How many blocks of a kernel fit on one multiprocessor at once, by the rules of the CUDA
/// occupancy calculator (cuda_occupancy.h): the least of what threads, blocks, registers and shared
/// memory allow. 0 when `facts` do not say (only CUDA architectures are known), or when it does not
/// fit at all.
std::int64_t resident_blocks_per_sm(const DeviceFacts& facts, const KernelResources& kernel,
                                    std::int64_t block_threads, std::int64_t dynamic_shared_bytes);

/// The registers that a block takes of DeviceFacts::registers_per_block; nullopt when `facts` do
/// not say how they are counted.
std::optional<std::int64_t> registers_of_block(const DeviceFacts& facts,
                                               const KernelResources& kernel,
                                               std::int64_t block_threads);

} // namespace winnow::tasks
