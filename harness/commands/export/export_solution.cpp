#include "harness/commands/commands.h"
#include "harness/commands/export/exported_candidate.h"
#include "tasks/host_program/solution_file.h"
#include "tasks/task/task_file.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::uint64_t kMostBytes = 16U << 20U;

struct SolutionOptions : ExportOptions {
  std::string benchmark = "flashinfer";
};

ExitCode export_solution(const SolutionOptions& options) {
  const ExportedCandidate candidate = exported_candidate(options);
  const std::filesystem::path definition = candidate.task.folder / "definition.json";
  const tasks::SolutionTexts texts{
      candidate.name, "winnow/" + candidate.author,
      std::filesystem::exists(definition)
          ? tasks::read_task_file(candidate.task.folder, definition, kMostBytes)
          : ""};
  const bool is_sol = options.benchmark == "sol";
  write_new(options.target, tasks::solution_file(candidate.program(), texts,
                                                 is_sol ? tasks::SolutionFor::SolExecBench
                                                        : tasks::SolutionFor::FlashInfer));
  if (!is_sol) {
    std::cout << "note: FlashInfer-Bench builds without options of a solution; Winnow compiled for "
              << (candidate.architecture.empty() ? "no GPU yet" : candidate.architecture)
              << ". TORCH_CUDA_ARCH_LIST chooses the architecture\n";
  }
  return ExitCode::Done;
}

} // namespace

void add_export_solution(CLI::App& export_command, Action& chosen) {
  auto options = std::make_shared<SolutionOptions>();
  CLI::App* sub = export_command.add_subcommand(
      "solution", "Write a candidate as a Solution in JSON, for FlashInfer-Bench or SOL-ExecBench. "
                  "For tasks of `winnow tasks import definition`");
  add_export_options(*sub, *options);
  sub->add_option("FILE", options->target, "the JSON file to write")->required();
  sub->add_option("--for", options->benchmark, "flashinfer or sol (SOL-ExecBench)")
      ->capture_default_str()
      ->check(CLI::IsMember({"flashinfer", "sol"}));
  sub->callback([options, &chosen] { chosen = [options] { return export_solution(*options); }; });
}

} // namespace winnow::harness
