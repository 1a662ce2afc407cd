#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/result/finding.h"

#include <string>
#include <vector>

namespace winnow::evaluators {

/// Finds variables that a CPU module could write, and calls of the clock and of the scheduler.
/// `source` shows which variables are `__constant__`, because a CPU compiler treats those like any
/// other. Throws ElfError.
std::vector<tasks::Finding> inspect_cpu_module(const ElfReader& module, const std::string& source);

} // namespace winnow::evaluators
