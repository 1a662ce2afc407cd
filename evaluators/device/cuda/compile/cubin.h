#pragma once

#include "evaluators/device/elf_reader.h"
#include "tasks/signature.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// What a cubin says of each kernel; `symbols` maps the plan's names to the cubin's, `log` is
/// NVRTC's with ptxas -v. Registers and stack come from the cubin, spills and shared memory from
/// the log. Throws ElfError when the cubin is malformed or lacks a kernel.
std::vector<tasks::KernelResources>
read_cubin_resources(const ElfReader& cubin, const std::vector<std::string>& kernels,
                     const std::map<std::string, std::string>& symbols, const std::string& log);

/// SHA-256 of what the kernels execute, in the plan's order: instructions, their relocations,
/// launch limits, shared memory, and the data that the module starts with. Names do not count, nor
/// does what Winnow has added. Throws ElfError.
std::string cubin_digest(const ElfReader& cubin, const std::vector<std::string>& kernels,
                         const std::map<std::string, std::string>& symbols);

} // namespace winnow::evaluators
