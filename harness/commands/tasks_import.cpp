#include "base/error.h"
#include "base/text/shell_word.h"
#include "evaluators/host/devices.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/exit/interrupt.h"
#include "harness/import/import_definitions.h"
#include "harness/import/import_modules.h"
#include "harness/import/module_children.h"
#include "harness/machine/machine.h"
#include "tasks/skeleton/skeleton.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

struct ImportCommand {
  std::string name; ///< of the folder to write
  std::string from; ///< a module file, or a checkout
  std::string mode = "eval";
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  int level = 0;
  double memory_gib = 1;
  std::size_t jobs = 0; ///< 0: as many as suit the machine
  bool json = false;
  evaluators::MachineOptions machine;

  std::uint64_t memory_bytes() const {
    constexpr double kGib = 1U << 30U;
    return static_cast<std::uint64_t>(memory_gib * kGib);
  }
  ImportOptions options(const evaluators::DeviceReport& device, std::size_t children) const {
    return {memory_bytes(), device.kind, children};
  }
};

ExitCode begin_task(const ImportCommand& command) {
  for (const std::string& file : tasks::write_skeleton(command.name)) {
    std::cout << "wrote " << command.name << '/' << file << '\n';
  }
  std::cout << "fill every place that says " << tasks::kToDo
            << " (docs/task.md); then: winnow tasks selftest " << shell_word(command.name) << '\n';
  return ExitCode::Done;
}

ExitCode make_new(const ImportCommand& command) {
  if (command.from.empty()) {
    return begin_task(command);
  }
  if (fs::exists(command.name)) {
    throw UsageError(command.name + " exists already", "name another folder");
  }
  const evaluators::DeviceReport device = evaluators::select_device(command.machine.device);
  check_isolation(command.machine);
  ModuleChildren children(device, command.machine, 1);
  const Imported result = import_module(children.describers(command.timeout, {}).front(),
                                        {command.from, command.name, {command.from, command.mode}},
                                        command.options(device, 1));
  if (!result.refused.empty()) {
    throw Error(command.from + ": " + result.refused);
  }
  std::cout << "wrote " << command.name << "/task.toml and reference.py\n";
  for (const std::string& flag : result.flags) {
    std::cout << "flag: " << flag << '\n';
  }
  std::cout << "judge a kernel: winnow eval " << shell_word(command.name) << " KERNEL.cu\n";
  return ExitCode::Done;
}

/// Tells on stderr of each task that is done.
ImportDone progress(std::size_t all) {
  return [all, done = std::size_t{0}](const Imported& last) mutable {
    const std::string how = !last.refused.empty() ? "refused"
                            : last.was_there      ? "was there"
                                                  : "made";
    std::cerr << fmt::format("{} of {}: {}: {} ({:.1f} s)\n", ++done, all, last.folder.string(),
                             how, last.seconds);
    for (const std::string& note : last.notes) {
      std::cerr << "  note: " << note << '\n';
    }
  };
}

/// Makes one task of each item. `import_one(describe, item, options)` is import_module() or
/// import_definition().
template <typename Item>
ExitCode import_items(const ImportCommand& command, const std::vector<Item>& items,
                      Imported (*import_one)(const Describe&, const Item&, const ImportOptions&)) {
  const auto start = std::chrono::steady_clock::now();
  const evaluators::DeviceReport device = evaluators::select_device(command.machine.device);
  const std::size_t suitable = suitable_children(device, command.memory_bytes());
  Interrupt interrupt; // before any other thread starts
  const auto cancelled = [&interrupt] { return interrupt.interrupted(); };
  check_isolation(command.machine);
  ImportReport report;
  report.jobs = std::min(command.jobs > 0 ? command.jobs : suitable, items.size());
  ModuleChildren children(device, command.machine, report.jobs);
  const ImportOptions options = command.options(device, report.jobs);
  report.imported = import_all(
      children.describers(command.timeout, cancelled), items.size(),
      [&](const Describe& child, std::size_t i) { return import_one(child, items[i], options); },
      progress(items.size()), cancelled);
  report.device = device.id;
  report.torch = children.torch_version();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << (command.json ? import_json(report).dump(2) + "\n" : import_text(report));
  if (interrupt.interrupted()) {
    std::cerr << "interrupted; the same command imports the rest\n";
    return ExitCode::Interrupted;
  }
  return ExitCode::Done;
}

ExitCode import_kernelbench(const ImportCommand& command) {
  return import_items(command, benchmark_modules(command.from, command.level, command.name),
                      import_module);
}

ExitCode import_definitions(const ImportCommand& command) {
  return import_items(command, definition_files(command.from, command.name), import_definition);
}

ExitCode import_gpumode(const ImportCommand& command) {
  return import_items(command, gpumode_problems(command.from, command.name), import_module);
}

ExitCode import_robust(const ImportCommand& command) {
  return import_items(command, robust_problems(command.from, command.name), import_module);
}

ExitCode import_deck(const ImportCommand& command) {
  return import_items(command, deck_problems(command.from, command.name), import_module);
}

void add_common(CLI::App& app, ImportCommand& command) {
  app.add_option("--device", command.machine.device,
                 "best, cpu or cuda: the shapes get sizes for this device");
  app.add_option("--memory", command.memory_gib,
                 "GiB for all tensors of one shape; larger problems are scaled down")
      ->check(CLI::Range(0.001, 32.0));
  add_duration(app, "--timeout", command.timeout, "wall-clock limit for looking at one module");
  add_isolation_option(app, command.machine.require_isolation);
}

void add_new(CLI::App& tasks_command, Action& chosen) {
  const auto [sub, command] = add_command(
      tasks_command, chosen, "new",
      "Begin a task: write its files with marks where to fill them. With --from, make the "
      "task of a PyTorch module: the class Model with get_inputs() and get_init_inputs(). "
      "This needs PyTorch (WINNOW_PYTHON names the Python)",
      make_new);
  sub.add_option("FOLDER", command.name,
                 "folder of the new task, CATEGORY/NAME: its parent is the category")
      ->required();
  sub.add_option("--mode", command.mode, "mode of layers such as BatchNorm")
      ->check(CLI::IsMember({"eval", "train"}));
  add_common(sub, command);
  CLI::Option* from = sub.add_option("--from", command.from, "file of the module");
  for (const char* of_modules :
       {"--mode", "--device", "--memory", "--timeout", "--require-isolation"}) {
    sub.get_option(of_modules)->needs(from);
  }
}

void add_definition(CLI::App& importer, Action& chosen) {
  const auto [sub, command] = add_command(
      importer, chosen, "definition",
      "Make a task of a definition of FlashInfer-Trace or SOL-ExecBench, or of each one in a "
      "folder. "
      "Skips those that an earlier import has made. Needs PyTorch (WINNOW_PYTHON names the Python)",
      import_definitions);
  command.jobs = 1;
  sub.add_option("PATH", command.from, "JSON file of a definition, or a folder")->required();
  sub.add_option("--to", command.name, "folder for the tasks")->required();
  add_common(sub, command);
}

void add_benchmark_options(CLI::App& sub, ImportCommand& command) {
  sub.add_option("--to", command.name, "folder for the tasks")->required();
  sub.add_option("--jobs", command.jobs,
                 "problems to look at side by side; 0: one for each core, as far as memory goes")
      ->check(CLI::Range(0, 256));
  sub.add_flag("--json", command.json, "print one document (docs/json.md)");
  add_common(sub, command);
}

void add_kernelbench(CLI::App& importer, Action& chosen) {
  const auto [sub, command] = add_command(
      importer, chosen, "kernelbench",
      "Make a task of each problem of levels 1 to 3, or of each problem of MultiKernelBench. Skips "
      "problems that an earlier import has made. Needs PyTorch (WINNOW_PYTHON names the Python)",
      import_kernelbench);
  sub.add_option("CHECKOUT", command.from,
                 "folder with KernelBench/level1, or with reference/ of MultiKernelBench; or the "
                 "file of one problem")
      ->required();
  sub.add_option("--level", command.level, "only this level; 0: all")->check(CLI::Range(0, 3));
  add_benchmark_options(sub, command);
}

/// A benchmark whose problems state their sizes.
void add_stated(CLI::App& importer, Action& chosen, const char* name, const std::string& of,
                const char* where, ExitCode (*run)(const ImportCommand&)) {
  const auto [sub, command] = add_command(
      importer, chosen, name,
      "Make a task of each problem of " + of +
          ". Skips problems that an earlier import has made. Needs PyTorch (WINNOW_PYTHON names "
          "the Python)",
      run);
  sub.add_option("CHECKOUT", command.from, where)->required();
  add_benchmark_options(sub, command);
}

} // namespace

void add_tasks_import(CLI::App& tasks_command, Action& chosen) {
  add_new(tasks_command, chosen);
  CLI::App* importer = tasks_command.add_subcommand("import", "Make tasks of a benchmark");
  importer->require_subcommand(1);
  add_definition(*importer, chosen);
  add_stated(*importer, chosen, "gpumode",
             "GPU MODE's reference-kernels (task.yml, ref_kernel(), generate_input())",
             "folder with problems/, or a folder of it", import_gpumode);
  add_kernelbench(*importer, chosen);
  add_stated(*importer, chosen, "kernelbench-com",
             "a deck of kernelbench.com, such as KernelBench-Hard (reference.py and shapes.py)",
             "folder with the problems", import_deck);
  add_stated(*importer, chosen, "robust-kbench",
             "robust-kbench, forward and backward, with its configurations",
             "folder with tasks/, or a folder of it", import_robust);
}

} // namespace winnow::harness
