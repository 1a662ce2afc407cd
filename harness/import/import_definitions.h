#pragma once

#include "harness/import/import_modules.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::harness {

/// A definition of FlashInfer-Trace or SOL-ExecBench to make a task of.
struct DefinitionFile {
  std::filesystem::path file;
  std::filesystem::path workloads; ///< JSON lines; empty: there are none
  std::filesystem::path folder;    ///< of the task
  std::filesystem::path root;      ///< of the data set: paths of safetensors files begin here
  std::string wrong;               ///< why the file is no definition; empty: it may be one
};

/// The definition `path`, or all below a folder, by op type and name. Throws UsageError if there
/// are none.
std::vector<DefinitionFile> definition_files(const std::filesystem::path& path,
                                             const std::filesystem::path& to);

/// Asks PyTorch for the description of the definition and writes its task: task.toml, reference.py
/// with the definition's reference, and definition.json. Never throws because of the definition.
Imported import_definition(const Describe& describe, const DefinitionFile& file,
                           const ImportOptions& options);

/// The workloads of a file, each as JSON text with `axes` and `inputs`. Lines that are no workload
/// and workloads with a broken safetensors file are left out; `notes` says which.
std::vector<std::string> read_workloads(const DefinitionFile& file,
                                        std::vector<std::string>& notes);

} // namespace winnow::harness
