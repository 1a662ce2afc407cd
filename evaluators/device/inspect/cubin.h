#pragma once

#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/plan/signature.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Reads the resources of each kernel. `symbols` maps the plan's names to symbols of the cubin;
/// `log` is the log of NVRTC with ptxas -v. Registers and stack come from the cubin, spills and
/// shared memory from the log. Throws ElfError when the cubin is malformed or lacks a kernel.
std::vector<tasks::KernelResources>
read_cubin_resources(const ElfReader& cubin, const std::vector<std::string>& kernels,
                     const std::map<std::string, std::string>& symbols, const std::string& log);

} // namespace winnow::evaluators
