#pragma once

#include "harness/import/import_modules.h"

namespace winnow::harness {

/// The problems of a checkout, in the order of folders and files:
/// - of KernelBench, and of another benchmark with its folders: level1 to level3, files N_name.py;
/// - of MultiKernelBench: each file reference/CATEGORY/name.py with a Model and get_inputs().
/// `level`: 0 for all. `to`: the folder of the tasks. Throws UsageError if there are none.
std::vector<Module> benchmark_modules(const std::filesystem::path& checkout, int level,
                                      const std::filesystem::path& to);

} // namespace winnow::harness
