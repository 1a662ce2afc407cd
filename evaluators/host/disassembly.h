#pragma once

#include "process/sandbox.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The machine code of a compiled GPU module as text, at most kMostDisassembly bytes of it. A tool
/// of the vendor writes it, in a fenced child. `kind`: of the GPU; `folders`: where to look for the
/// tool before PATH. Throws UsageError if there is no tool, and Error if it fails.
std::string disassembly(const std::filesystem::path& module, const std::string& kind,
                        const std::vector<std::filesystem::path>& folders,
                        const process::Sandbox& sandbox);
constexpr std::size_t kMostDisassembly = std::size_t{64} << 10U;

/// The folders of the programs that come with the compiler's library for this architecture. Throws
/// Error if there is no compiler.
std::vector<std::filesystem::path> tool_folders(const std::string& kind,
                                                const std::string& architecture);

/// Entry point of the hidden subcommand `_disassemble`, which becomes the tool behind the fence.
int disassemble_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
