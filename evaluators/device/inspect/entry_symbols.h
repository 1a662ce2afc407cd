#pragma once

#include "evaluators/device/inspect/elf_reader.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// These functions read the symbols that winnow_entry.h put into a module. They throw ElfError when
/// a symbol is missing.

/// The encoded parameters of kernels 0 to count - 1 (tasks/plan/signature.h).
std::vector<std::string> read_signatures(const ElfReader& module, std::size_t count);
/// The values of constant expressions 0 to count - 1.
std::vector<std::int64_t> read_constants(const ElfReader& module, std::size_t count);

/// The symbol that a compiler gave to this kernel of the plan. Throws ElfError when there is none.
std::string symbol_of(const std::map<std::string, std::string>& symbols, const std::string& kernel);

} // namespace winnow::evaluators
