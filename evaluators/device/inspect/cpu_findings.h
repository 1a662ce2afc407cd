#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/result/finding.h"

#include <string>
#include <vector>

namespace winnow::evaluators {

/// Variables that a CPU module could write, and its calls of the clock and of the scheduler.
/// `source` tells `__constant__` variables, which are nothing special to a CPU's compiler, from
/// others. Throws ElfError.
std::vector<tasks::Finding> inspect_cpu_module(const ElfReader& module, const std::string& source);

} // namespace winnow::evaluators
