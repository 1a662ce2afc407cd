#include "harness/commands/commands.h"
#include "harness/commands/export/exported_candidate.h"
#include "tasks/host_program/kernelbench_file.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

ExitCode export_kernelbench(const ExportOptions& options) {
  const ExportedCandidate candidate = exported_candidate(options);
  const std::string text = tasks::kernelbench_file(candidate.program());
  const fs::path target = options.target;
  const bool is_file = target.extension() == ".py";
  const fs::path folder = is_file ? target.parent_path() : target;
  if (!folder.empty()) {
    fs::create_directories(folder);
  }
  write_new(is_file ? target : folder / tasks::kernelbench_file_name(candidate.task), text);
  for (const std::string& note : tasks::kernelbench_notes(candidate.task, text)) {
    std::cout << "note: " << note << '\n';
  }
  return ExitCode::Done;
}

} // namespace

void add_export_kernelbench(CLI::App& export_command, Action& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* sub = export_command.add_subcommand(
      "kernelbench", "Write a candidate as a Python file that KernelBench's scripts judge: the "
                     "problem's module as it is, and a class ModelNew with the kernel. For tasks "
                     "whose reference is a PyTorch module");
  add_export_options(*sub, *options);
  sub->add_option("DIR", options->target,
                  "folder for the file, which is named as KernelBench's scripts expect; or the "
                  "file itself, if the name ends in .py")
      ->required();
  sub->callback(
      [options, &chosen] { chosen = [options] { return export_kernelbench(*options); }; });
}

} // namespace winnow::harness
