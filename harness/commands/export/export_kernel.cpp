#include "harness/commands/commands.h"
#include "harness/commands/export/exported_candidate.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

namespace winnow::harness {
namespace {

ExitCode export_kernel(const ExportOptions& options) {
  const ExportedCandidate candidate = exported_candidate(options);
  const tasks::HostProgram program = candidate.program();
  const std::filesystem::path folder = options.target;
  std::filesystem::create_directories(folder);
  write_new(folder / "kernel.cu", tasks::head_text(program, "// ") + candidate.file.text);
  write_new(folder / "extension.py", tasks::torch_extension(program));
  if (candidate.task.torch) {
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
  auto options = std::make_shared<ExportOptions>();
  CLI::App* sub = export_command.add_subcommand(
      "kernel", "Write a candidate as kernel.cu, a kernel file with its tuned parameters, as "
                "main.cu, a CUDA program that launches, checks and times the kernel, and as "
                "extension.py, a PyTorch extension. The last two need no Winnow. There is no "
                "main.cu if the task's reference is a PyTorch module");
  add_export_options(*sub, *options);
  sub->add_option("DIR", options->target, "folder for the files; Winnow makes it if needed")
      ->required();
  sub->add_option(
      "--shape", options->shape,
      "write main.cu and extension.py for this search shape only, such as search/0 (default: all)");
  sub->callback([options, &chosen] { chosen = [options] { return export_kernel(*options); }; });
}

} // namespace winnow::harness
