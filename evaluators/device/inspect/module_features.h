#pragma once

#include "evaluators/device/inspect/elf_reader.h"

#include <cstddef>
#include <string>
#include <vector>

namespace winnow::evaluators {

// The structure of compiled code as short texts, in a fixed order: "2 kernels", "mma",
// "cp.async", ... They do not depend on the names or comments of the source. `kernels`: number of
// kernels that the plan uses.

/// `architecture`: "sm_90a". Knows instructions of compute capability 7.0 and later. Throws
/// ElfError.
std::vector<std::string> cubin_features(const ElfReader& cubin, const std::string& architecture,
                                        std::size_t kernels);
/// Of a module for the CPU: which operations of the runtime it calls.
std::vector<std::string> cpu_features(const ElfReader& module, std::size_t kernels);
/// "2 kernels"
std::string kernel_count(std::size_t kernels);

} // namespace winnow::evaluators
