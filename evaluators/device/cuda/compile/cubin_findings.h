#pragma once

#include "evaluators/device/elf_reader.h"
#include "tasks/finding.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Variables in global memory that the module writes, clock and global timer reads, sleeps.
/// `symbols` maps the plan's kernels to the cubin's. Without `ptx`, which NVRTC has beside the
/// cubin, variables that start as zeros are taken to be written and others not. Machine code older
/// than compute capability 7.0 is not read. Throws ElfError.
std::vector<tasks::Finding> inspect_cubin(const ElfReader& cubin,
                                          const std::map<std::string, std::string>& symbols,
                                          const std::string& architecture, std::string_view ptx);

} // namespace winnow::evaluators
