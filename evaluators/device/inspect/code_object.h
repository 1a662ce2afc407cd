#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/plan/signature.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Reads the resources of each kernel from the metadata note of an AMD GPU code object. Format:
/// LLVM, "User Guide for AMDGPU Backend", Code Object V3 Metadata and later. Registers are vector
/// registers; a spilled register counts as 4 bytes stored and 4 loaded. Throws ElfError when the
/// note lacks a kernel.
std::vector<tasks::KernelResources>
read_code_object_resources(const ElfReader& code, const std::vector<std::string>& kernels,
                           const std::map<std::string, std::string>& symbols);

} // namespace winnow::evaluators
