#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/report/terminal.h"
#include "store/candidate_record.h"
#include "tasks/host_program/host_program.h"
#include "tasks/plan/parameter_choices.h"
#include "tasks/plan/tuned_file.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

struct ExportKernelCommand {
  std::string candidate, folder, shape, store;
};

tasks::KernelFile parsed_kernel(const store::CandidateRecord& record, const std::string& text) {
  tasks::KernelFileResult parsed =
      tasks::parse_kernel_file(text, fmt::format("@{}", record.state.row.id));
  if (!parsed.kernel_file) {
    throw UsageError(to_string(parsed.errors.front()),
                     "export a candidate with a launch plan that has no mistakes");
  }
  return std::move(*parsed.kernel_file);
}

/// The kernel file whose default parameters are those of the evaluation that counts.
tasks::KernelFile tuned_kernel(const store::CandidateRecord& record) {
  const tasks::KernelFile file = parsed_kernel(record, record.state.row.text);
  const auto& best = record.state.best;
  return best && !best->parameters.empty()
             ? parsed_kernel(record, tasks::with_default(file, best->parameters))
             : file;
}

/// The search shapes for an NVIDIA GPU, or the one with this id.
std::vector<tasks::Shape> chosen_shapes(const tasks::Task& task, const std::string& id) {
  const std::vector<tasks::Shape> all = task.shapes_of(tasks::ShapeSet::Search, "cuda");
  std::vector<tasks::Shape> chosen;
  std::string known;
  for (const tasks::Shape& shape : all) {
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", shape.id, to_string(shape));
    if (id.empty() || shape.id == id) {
      chosen.push_back(shape);
    }
  }
  if (chosen.empty()) {
    throw UsageError(
        fmt::format("task {} has no search shape '{}' for an NVIDIA GPU", task.name, id),
        "name one of " + known);
  }
  return chosen;
}

std::string title_of(const store::CandidateRecord& record) {
  const store::CandidateRow& row = record.state.row;
  return fmt::format("Candidate {} of run {}, by {}, file {}", row.id, record.run_name,
                     row.model.empty() ? row.origin : row.model, row.digest.substr(0, 8));
}

void write_new(const fs::path& path, const std::string& text) {
  if (fs::exists(path)) {
    throw UsageError(path.string() + " exists already", "remove the file, or name another folder");
  }
  write_file_atomic(path, text);
  std::cout << "wrote " << path.string() << '\n';
}

ExitCode export_kernel(const ExportKernelCommand& command) {
  const store::RunStore store(find_store(command.store), store::RunStore::Mode::ReadOnly);
  const std::string& name = command.candidate;
  const store::CandidateRecord record =
      store.candidate_record(store.candidate_named(name.starts_with('@') ? name.substr(1) : name));
  const tasks::Task task = tasks::find_task(tasks::find_catalogue(), record.state.row.task);
  if (task.digest != record.task_digest) {
    std::cerr << "warning: the task " << task.name
              << " has changed since the candidate was judged: main.cu and extension.py have the "
                 "task of today\n";
  }
  const tasks::KernelFile file = tuned_kernel(record);
  const std::string architecture =
      record.state.best ? record.state.best->build.architecture : std::string();
  const tasks::HostProgram program{
      file,
      task,
      tasks::choice_with(file.plan, {}).value_or(tasks::ParameterChoice{}),
      chosen_shapes(task, command.shape),
      title_of(record),
      architecture};
  const fs::path folder = command.folder;
  fs::create_directories(folder);
  write_new(folder / "kernel.cu", file.text);
  write_new(folder / "extension.py", tasks::torch_extension(program));
  if (task.torch) {
    std::cout << "no main.cu: it would compare with reference.cu, and the reference of this task "
                 "is a PyTorch module\n";
  } else {
    write_new(folder / "main.cu", tasks::host_program(program));
    std::cout << "build and run the program on a machine with the CUDA toolkit:\n  cd "
              << folder.string() << " && " << tasks::build_command(program) << " && ./kernel\n";
  }
  std::cout << "where PyTorch 2 and the CUDA toolkit are installed, check and time the extension:\n"
            << "  cd " << folder.string() << " && python3 extension.py\n";
  return ExitCode::Done;
}

} // namespace

void add_export_kernel(CLI::App& export_command, Action& chosen) {
  auto command = std::make_shared<ExportKernelCommand>();
  CLI::App* sub = export_command.add_subcommand(
      "kernel", "Write a candidate as kernel.cu, a kernel file with its tuned parameters, as "
                "main.cu, a CUDA program that launches, checks and times the kernel, and as "
                "extension.py, a PyTorch extension. The last two need no Winnow");
  sub->add_option("ID", command->candidate,
                  "number of a candidate, or the first 4 or more digits of its file's digest")
      ->required();
  sub->add_option("DIR", command->folder, "folder for the files; Winnow makes it if needed")
      ->required();
  sub->add_option(
      "--shape", command->shape,
      "write main.cu and extension.py for this search shape only, such as search/0 (default: all)");
  sub->add_option("--store", command->store, kStoreHelp);
  sub->callback([command, &chosen] { chosen = [command] { return export_kernel(*command); }; });
}

} // namespace winnow::harness
