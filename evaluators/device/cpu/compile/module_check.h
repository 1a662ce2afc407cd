#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "evaluators/device/module.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::evaluators {

/// The reason why a linked module must not be loaded.
struct ModuleObjection {
  tasks::Verdict verdict = tasks::Verdict::CompileError;
  std::string what;
  std::string symbol; ///< unqualified name to search for in the source; may be empty
};

/// Whether a module may import `name`. Allowed are the runtime's entry points (abi.h), mathematical
/// functions, memcpy and similar functions, and thread-local storage. A check module may also
/// import the symbols that it is linked against.
bool is_allowed_import(std::string_view name, BuildMode mode);

/// Checks that a module imports only allowed names, runs no code when it is loaded, and has at most
/// 48 KiB of static shared memory per kernel. Throws ElfError.
std::optional<ModuleObjection> check_module(const ElfReader& module, BuildMode mode);

} // namespace winnow::evaluators
