#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/plan/signature.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// What an AMD GPU code object says of each kernel in its metadata note (LLVM, "User Guide for
/// AMDGPU Backend", Code Object V3 Metadata and later). Registers are vector registers; a spilled
/// one counts as 4 bytes stored and 4 loaded. Throws ElfError when it lacks a kernel.
std::vector<tasks::KernelResources>
read_code_object_resources(const ElfReader& code, const std::vector<std::string>& kernels,
                           const std::map<std::string, std::string>& symbols);

} // namespace winnow::evaluators
