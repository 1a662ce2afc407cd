#pragma once

#include "store/candidate_record.h"
#include "tasks/host_program/host_program.h"

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace winnow::harness {

/// What the commands that write a kernel as a program have in common.
struct ExportOptions {
  std::string candidate, target, shape, task, store;
};

/// A candidate of a store, with the parameters that it has on the board.
struct ExportedCandidate {
  tasks::Task task;
  tasks::KernelFile file;
  std::vector<tasks::Shape> shapes; ///< search shapes for NVIDIA GPUs
  std::string title, architecture;
  std::string author;                ///< the model, or another origin
  std::string name;                  ///< "winnow_4_68105b4c"
  tasks::FactValues facts;           ///< HostProgram::facts
  std::vector<std::string> measured; ///< HostProgram::measured

  tasks::HostProgram program() const;
};

/// Reads the candidate, and warns on stderr if its task has changed since.
ExportedCandidate exported_candidate(const ExportOptions& options);

/// Writes a file that must not be there yet, and says so.
void write_new(const std::filesystem::path& path, const std::string& text);

/// The arguments ID, --task and --store.
void add_export_options(CLI::App& command, ExportOptions& options);

} // namespace winnow::harness
