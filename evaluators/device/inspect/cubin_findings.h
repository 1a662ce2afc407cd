#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/result/finding.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Finds zero-initialised variables in global memory that the code uses (they count as written by
/// kernels), reads of the clock and of the global timer, and sleeps. `symbols` maps the plan's
/// kernels to symbols of the cubin. `ptx`: the text that became the cubin; empty: all variables
/// count as used. Does not read machine code older than compute capability 7.0. Throws ElfError.
std::vector<tasks::Finding> inspect_cubin(const ElfReader& cubin,
                                          const std::map<std::string, std::string>& symbols,
                                          const std::string& architecture, std::string_view ptx);

} // namespace winnow::evaluators
