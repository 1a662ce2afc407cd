#pragma once

#include "evaluators/device/cpu/compile/toolchain.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// clang++'s precompiled form of winnow_cpu.h for these flags, in the directory of the device
/// headers, where it stays for later processes. Clang++ takes a third less CPU time for a small
/// kernel with this file, and writes the same bytes as without the file.
/// Empty: the compiler is g++, the file cannot be made, or the file does not pay yet. Making the
/// file takes as long as it saves in three builds, so the third build with this cache makes it.
std::filesystem::path precompiled_headers(const Toolchain& toolchain,
                                          const std::vector<std::string>& flags,
                                          const std::filesystem::path& headers);

/// True if clang++ may have failed because of a precompiled file: a truncated file, or a file of
/// another clang++. Then only a compile without the file tells what is wrong with the source.
bool may_blame_precompiled_headers(const std::string& messages);

} // namespace winnow::evaluators
