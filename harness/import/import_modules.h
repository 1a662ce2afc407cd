#pragma once

#include "harness/import/module_task.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A PyTorch module to make a task of.
struct Module {
  std::filesystem::path file;
  std::filesystem::path folder; ///< of the task
  ModuleOrigin origin;
};

struct ImportOptions {
  std::uint64_t memory_bytes = 0;  ///< for all tensors of a shape
  std::string device_kind = "cpu"; ///< "cpu", "cuda", "hip": the sizes are for it
  std::size_t children = 1;        ///< that look at modules at the same time
};

/// Wrong answers that were tried against a task.
struct WrongAnswers {
  int tried = 0;
  int passing = 0; ///< the task accepts them; each is a flag
  /// KernelBench's tolerances of 1e-4 and 1e-2 accept them, and the task does not.
  int caught_at_1e4 = 0, caught_at_1e2 = 0;
};

/// What became of one module.
struct Imported {
  std::filesystem::path folder;
  std::string refused;            ///< why there is no task; empty: there is one
  bool was_there = false;         ///< an earlier import with the same options made the task
  std::vector<std::string> flags; ///< see module_flags()
  WrongAnswers wrong;
  double seconds = 0;
};

/// Asks a torch child for a description (evaluators/torch/README.md). Throws Error.
using Describe = std::function<nlohmann::json(const nlohmann::json& request)>;

/// Makes a task folder of the module: task.toml, the file byte for byte as reference.py, and
/// import.json with what a later import needs to know. A folder that the same importer made of the
/// same file with the same options stays as it is; no reader sees a half-written folder. Never
/// throws: errors become Imported::refused.
Imported import_module(const Describe& describe, const Module& module,
                       const ImportOptions& options);

/// Told of each module that is done, with its place in the list. One call at a time.
using ModuleDone = std::function<void(std::size_t index, const Imported&)>;

/// Imports all modules, one thread for each of `children`. Begins with the last ones, because the
/// large networks of a benchmark come last. The results have the order of `modules`; after a
/// cancellation those that were not finished are left out.
std::vector<Imported> import_all(const std::vector<Describe>& children,
                                 const std::vector<Module>& modules, const ImportOptions& options,
                                 const ModuleDone& done, const std::function<bool()>& cancelled);

} // namespace winnow::harness
