#include "base/error.h"
#include "evaluators/evaluation/open_devices.h"
#include "harness/commands/commands.h"
#include "harness/config/duration.h"
#include "harness/import/import_definitions.h"
#include "harness/import/import_modules.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

struct ImportCommand {
  std::string name; ///< of the folder to write
  std::string from; ///< a module file, or a checkout
  std::string mode = "eval";
  std::string timeout = "5m";
  int level = 0;
  unsigned jobs = 0; ///< 0: one for each core
  double memory_gib = 1;
  evaluators::EvaluationOptions options;
};

std::shared_ptr<evaluators::DeviceHost> opened(const ImportCommand& command) {
  auto host = evaluators::open_device(evaluators::select_device(command.options.device),
                                      command.options, command.options.run_timeout);
  return host;
}

ImportOptions options_of(const ImportCommand& command) {
  constexpr double kGib = 1U << 30U;
  return {static_cast<std::uint64_t>(command.memory_gib * kGib),
          duration_option("--timeout", command.timeout),
          command.jobs > 0 ? command.jobs : std::max(1U, std::thread::hardware_concurrency())};
}

ExitCode make_new(const ImportCommand& command) {
  if (fs::exists(command.name)) {
    throw UsageError(command.name + " exists already", "name another folder");
  }
  const auto host = opened(command);
  const Module module{command.from, command.name, {command.from, command.mode}};
  const Imported result = import_modules(*host, {module}, options_of(command)).front();
  if (!result.refused.empty()) {
    throw Error(command.from + ": " + result.refused);
  }
  std::cout << "wrote " << command.name << "/task.toml and reference.py\n";
  for (const std::string& flag : result.flags) {
    std::cout << "flag: " << flag << '\n';
  }
  std::cout << "judge a kernel: winnow eval " << command.name << " KERNEL.cu\n";
  return ExitCode::Done;
}

ExitCode import_kernelbench(const ImportCommand& command) {
  const std::vector<Module> modules =
      kernelbench_modules(command.from, command.level, command.name);
  const auto host = opened(command);
  std::size_t done = 0;
  const auto say = [&](const Module& module, const Imported& result) {
    std::cerr << fmt::format("{} of {}: {}{}\n", ++done, modules.size(), module.folder.string(),
                             !result.refused.empty() ? ": refused"
                             : result.was_there      ? ": was there"
                                                     : "");
  };
  const auto imported = import_modules(*host, modules, options_of(command), say);
  std::cout << import_text(imported);
  return ExitCode::Done;
}

ExitCode import_definitions(const ImportCommand& command) {
  const std::vector<DefinitionFile> files = definition_files(command.from, command.name);
  const auto host = opened(command);
  std::vector<Imported> imported;
  for (const DefinitionFile& file : files) {
    ImportedDefinition made = import_definition(*host, file, options_of(command));
    imported.push_back(std::move(made.imported));
    const Imported& last = imported.back();
    std::cerr << fmt::format("{} of {}: {}{}\n", imported.size(), files.size(),
                             file.folder.string(), !last.refused.empty() ? ": refused" : "");
    for (const std::string& note : made.notes) {
      std::cerr << "  note: " << note << '\n';
    }
  }
  std::cout << import_text(imported);
  return ExitCode::Done;
}

void add_common(CLI::App& app, ImportCommand& command) {
  app.add_option("--device", command.options.device,
                 "best, cpu or cuda: the shapes get sizes for this device")
      ->capture_default_str();
  app.add_option("--memory", command.memory_gib,
                 "GiB for all tensors of one shape; larger problems are scaled down")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 32.0));
  app.add_option("--timeout", command.timeout, "wall-clock limit for looking at one module")
      ->capture_default_str();
}

void add_definition(CLI::App& importer, const std::shared_ptr<ImportCommand>& command,
                    Action& chosen) {
  CLI::App* definition = importer.add_subcommand(
      "definition", "Make a task of a definition of FlashInfer-Trace or SOL-ExecBench, or of each "
                    "one in a folder. Skips those that an earlier import has made. Needs PyTorch "
                    "(WINNOW_PYTHON names the Python)");
  definition->add_option("PATH", command->from, "JSON file of a definition, or a folder")
      ->required();
  definition->add_option("--to", command->name, "folder for the tasks")->required();
  add_common(*definition, *command);
  definition->callback(
      [command, &chosen] { chosen = [command] { return import_definitions(*command); }; });
}

} // namespace

void add_tasks_import(CLI::App& tasks_command, Action& chosen) {
  auto command = std::make_shared<ImportCommand>();
  CLI::App* maker = tasks_command.add_subcommand(
      "new", "Make a task of a PyTorch module: the class Model with get_inputs() and "
             "get_init_inputs(). Needs PyTorch (WINNOW_PYTHON names the Python)");
  maker->add_option("FOLDER", command->name, "folder of the new task")->required();
  maker->add_option("--from", command->from, "file of the module")->required();
  maker->add_option("--mode", command->mode, "mode of layers such as BatchNorm")
      ->capture_default_str()
      ->check(CLI::IsMember({"eval", "train"}));
  add_common(*maker, *command);
  maker->callback([command, &chosen] { chosen = [command] { return make_new(*command); }; });
  CLI::App* importer = tasks_command.add_subcommand("import", "Make tasks of a benchmark");
  importer->require_subcommand(1);
  add_definition(*importer, command, chosen);
  CLI::App* kernelbench = importer->add_subcommand(
      "kernelbench", "Make a task of each problem of levels 1 to 3. Skips problems that an earlier "
                     "import has made. Needs PyTorch (WINNOW_PYTHON names the Python)");
  kernelbench->add_option("CHECKOUT", command->from, "folder with level1, level2, level3")
      ->required();
  kernelbench->add_option("--to", command->name, "folder for the tasks")->required();
  kernelbench->add_option("--level", command->level, "only this level; 0: all")
      ->capture_default_str()
      ->check(CLI::Range(0, 3));
  kernelbench->add_option("--jobs", command->jobs,
                          "problems to look at side by side, each with a Python of its own; a GPU "
                          "holds --memory some ten times for each (default: one a core)");
  add_common(*kernelbench, *command);
  kernelbench->callback(
      [command, &chosen] { chosen = [command] { return import_kernelbench(*command); }; });
}

} // namespace winnow::harness
