#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/plan/signature.h"
#include "tasks/result/finding.h"

#include <functional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// As C++ calls it, cut off when long.
std::string shown_name(const std::string& symbol);

/// "k::counter (4 bytes)" of a variable's symbol.
tasks::Finding mutable_global(const ElfSymbol& symbol);

/// Variables of a shared object or an AMD code object in sections that can be written, but for
/// those that `is_known` says are none: constants that the format keeps there, our own.
std::vector<tasks::Finding>
writable_variables(const ElfReader& module,
                   const std::function<bool(const std::string&)>& is_known);

/// One finding for each kernel that has a stack or spills.
std::vector<tasks::Finding> local_memory(const std::vector<tasks::KernelResources>& kernels);

/// At most a few of each kind, the last one saying how many there are.
std::vector<tasks::Finding> shorten(std::vector<tasks::Finding> findings);

} // namespace winnow::evaluators
