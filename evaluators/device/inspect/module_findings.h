#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/plan/signature.h"
#include "tasks/result/finding.h"

#include <functional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The C++ name of a symbol, shortened when it is long.
std::string shown_name(const std::string& symbol);

/// The finding "k::counter (4 bytes)" for a variable's symbol.
tasks::Finding mutable_global(const ElfSymbol& symbol);

/// The variables in writable sections of a shared object or an AMD code object. Leaves out names
/// for which `is_known` is true: constants that the format keeps there, and Winnow's own variables.
std::vector<tasks::Finding>
writable_variables(const ElfReader& module,
                   const std::function<bool(const std::string&)>& is_known);

/// One finding for each kernel that uses stack memory or spills registers.
std::vector<tasks::Finding> local_memory(const std::vector<tasks::KernelResources>& kernels);

/// Keeps a few findings of each kind. The last one kept says how many there are.
std::vector<tasks::Finding> shorten(std::vector<tasks::Finding> findings);

/// "_Z4axpyILi4EEvPfi" -> "void axpy<4>(float*, int)". Returns any other text unchanged.
std::string demangle(const std::string& symbol);

/// "void a::scale<128>(float*)" -> "scale".
std::string unqualified(const std::string& demangled);

/// Finds variables that a CPU module could write, and calls of the clock and of the scheduler.
/// `source` shows which variables are `__constant__`, because a CPU compiler treats those like any
/// other. Throws ElfError.
std::vector<tasks::Finding> inspect_cpu_module(const ElfReader& module, const std::string& source);

} // namespace winnow::evaluators
