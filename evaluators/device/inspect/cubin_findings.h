#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/result/finding.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Variables in global memory that start as zeros, which are taken to be written; clock and global
/// timer reads, sleeps. `symbols` maps the plan's kernels to the cubin's. Machine code older than
/// compute capability 7.0 is not read. Throws ElfError.
std::vector<tasks::Finding> inspect_cubin(const ElfReader& cubin,
                                          const std::map<std::string, std::string>& symbols,
                                          const std::string& architecture);

} // namespace winnow::evaluators
