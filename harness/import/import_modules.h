#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// From where a PyTorch module comes, and how it is run.
struct ModuleOrigin {
  std::string origin; ///< for people: "KernelBench level1/19_ReLU.py", or a path
  std::string mode;   ///< "train" or "eval"
};

/// The text of a task.toml for a PyTorch module. `description`: torch_child.py's answer to
/// "describe" (evaluators/torch/README.md). Throws Error if Winnow has no task for such a module
/// yet.
std::string module_task_toml(const nlohmann::json& description, const ModuleOrigin& origin);

/// What a task says of itself on boards: flags of the description, and the mutants that pass.
std::vector<std::string> module_flags(const nlohmann::json& description);

/// A problem that states its own sizes, beside or in place of a module (evaluators/torch/README.md:
/// the field `problem` of the request "describe").
struct StatedProblem {
  std::string request; ///< JSON
  std::string board;   ///< JSON that an export needs; may be empty
  std::string wrong;   ///< why it can be no task; empty: it may be one
};

/// A PyTorch module to make a task of.
struct Module {
  std::filesystem::path file;
  std::filesystem::path folder; ///< of the task
  ModuleOrigin origin;
  std::optional<StatedProblem> problem = {};
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
  std::vector<std::string> notes = {}; ///< about the sizes that were left out
};

/// Asks a torch child for a description (evaluators/torch/README.md). Throws Error.
using Describe = std::function<nlohmann::json(const nlohmann::json& request)>;

/// Makes a task folder of the module: task.toml, the file byte for byte as reference.py (of a
/// stated problem, the file as a module), and import.json with what a later import needs to know. A
/// folder that the same importer made of the same file with the same options stays as it is; no
/// reader sees a half-written folder. Never throws: errors become Imported::refused.
Imported import_module(const Describe& describe, const Module& module,
                       const ImportOptions& options);

/// Makes the task with this place in a list.
using ImportOne = std::function<Imported(const Describe&, std::size_t index)>;
/// Told of each task that is done. One call at a time.
using ImportDone = std::function<void(const Imported&)>;

/// Makes `count` tasks, one thread for each of `children`. Begins with the last ones, because the
/// large networks of a benchmark come last. The results have the order of the list; after a
/// cancellation those that were not finished are left out.
std::vector<Imported> import_all(const std::vector<Describe>& children, std::size_t count,
                                 const ImportOne& import_one, const ImportDone& done,
                                 const std::function<bool()>& cancelled);

/// The problems of a checkout, in the order of folders and files:
/// - of KernelBench, and of another benchmark with its folders: level1 to level3, files N_name.py;
/// - of MultiKernelBench: each file reference/CATEGORY/name.py with a Model and get_inputs().
/// A file is one problem, of the level or category that its path tells.
/// `level`: 0 for all. `to`: the folder of the tasks. Throws UsageError if there are none.
std::vector<Module> benchmark_modules(const std::filesystem::path& checkout, int level,
                                      const std::filesystem::path& to);

/// The problems of GPU MODE's reference-kernels: each folder below `path` with a task.yml, which
/// may be `path` itself. Throws UsageError if there are none.
std::vector<Module> gpumode_problems(const std::filesystem::path& path,
                                     const std::filesystem::path& to);

/// The tasks of robust-kbench: each folder below `checkout` with a func_forward.py or
/// func_backward.py, and its configurations. Throws UsageError if there are none.
std::vector<Module> robust_problems(const std::filesystem::path& checkout,
                                    const std::filesystem::path& to);

/// The problems of kernelbench.com (KernelBench-Hard, the CUDA deck): each folder below `path` with
/// a problem.yaml. Throws UsageError if there are none.
std::vector<Module> deck_problems(const std::filesystem::path& path,
                                  const std::filesystem::path& to);

/// What an import ended with.
struct ImportReport {
  std::string device; ///< "cpu", "cuda:0"
  std::string torch;  ///< version of PyTorch
  std::size_t jobs = 1;
  double seconds = 0;
  std::vector<Imported> imported;
};

/// Schema "winnow.import", version 1.
nlohmann::json import_json(const ImportReport& report);

/// A line for each module that is no plain task, and a table by folder.
std::string import_text(const ImportReport& report);

/// What Winnow knows of a module that no import can compute (tasks/import/kernelbench.toml).
struct KnownModule {
  std::optional<std::string> mode; ///< in which the module is no random function
  std::string more_source;         ///< goes behind the file for its description; may be empty
  std::vector<std::string> flags;
};

/// Found by the text of the class Model, so that other numbers and sizes do not matter.
KnownModule known_module(std::string_view source);

/// The class Model of a file, without white space at the end; empty if there is none.
std::string_view model_class(std::string_view source);

} // namespace winnow::harness
