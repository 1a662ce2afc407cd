#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "evaluators/device/module.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Why a linked module must not be loaded.
struct ModuleObjection {
  tasks::Verdict verdict = tasks::Verdict::CompileError;
  std::string what;
  std::string symbol; ///< unqualified name to look for in the source; may be empty
};

/// Whether a module may import `name`: entry points of the runtime (abi.h), mathematics, memcpy and
/// its like, thread-local storage; in check mode also what check modules are linked against.
bool is_allowed_import(std::string_view name, BuildMode mode);

/// Imports nothing else, runs nothing when it is loaded, stays within 48 KiB of static shared
/// memory a kernel. Throws ElfError.
std::optional<ModuleObjection> check_module(const ElfReader& module, BuildMode mode);

} // namespace winnow::evaluators
