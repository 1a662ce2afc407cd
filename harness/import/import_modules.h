#pragma once

#include "evaluators/device/device_host.h"
#include "harness/import/module_task.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace winnow::harness {

/// A PyTorch module to make a task of.
struct Module {
  std::filesystem::path file;
  std::filesystem::path folder; ///< of the task
  ModuleOrigin origin;
};

struct ImportOptions {
  std::uint64_t memory_bytes = 0;       ///< for all tensors of a shape
  std::chrono::milliseconds timeout{0}; ///< for the description of one module
  unsigned jobs = 1;                    ///< torch children that work side by side
};

/// What became of one module.
struct Imported {
  std::filesystem::path folder;
  std::string refused;            ///< why there is no task; empty: there is one
  bool was_there = false;         ///< an earlier import of the same file made the task
  std::vector<std::string> flags; ///< see module_flags()
  /// Wrong answers that KernelBench's tolerances of 1e-4 and 1e-2 accept, and the task does not.
  int caught_at_1e4 = 0, caught_at_1e2 = 0;
};

/// Called when a module is done; never by two threads at a time.
using ImportProgress = std::function<void(const Module& module, const Imported& result)>;

/// Makes a task folder of each module: task.toml, and the file byte for byte as reference.py. A
/// folder whose reference.py has the same bytes stays as it is. The results are in the order of the
/// modules. A module that finds too little memory beside others gets a second try alone.
std::vector<Imported> import_modules(evaluators::DeviceHost& host,
                                     const std::vector<Module>& modules,
                                     const ImportOptions& options,
                                     const ImportProgress& progress = nullptr);

/// The problems of a checkout of KernelBench, or of another benchmark in its form: the files
/// level*/N_name.py, in the order of their numbers. `level`: 0 for all. `to`: the folder of the
/// tasks. Throws UsageError if there are none.
std::vector<Module> kernelbench_modules(const std::filesystem::path& checkout, int level,
                                        const std::filesystem::path& to);

/// A line for each module that is not a plain task, and a table by folder.
std::string import_text(const std::vector<Imported>& imported);

} // namespace winnow::harness
