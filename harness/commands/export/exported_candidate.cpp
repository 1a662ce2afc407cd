#include "harness/commands/export/exported_candidate.h"

#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/named/named_task.h"
#include "harness/report/terminal.h"
#include "harness/report/text_table.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/plan/tuning/tuned_file.h"
#include "tasks/result/speedup.h"

#include <iostream>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

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
  return fmt::format("Candidate {} of run {}, by {}, file {}", row.id, record.run_name, row.author,
                     row.digest.substr(0, 8));
}

/// Why nobody should use the kernel; empty: it is correct.
std::string fault_of(const store::CandidateRecord& record) {
  const auto& best = record.state.best;
  if (best && best->verdict == tasks::Verdict::Correct) {
    return {};
  }
  return best ? fmt::format("is not correct: {} ({})", to_string(best->verdict),
                            describe(best->verdict))
              : "has no verdict";
}

/// The speedup that the board shows, and whether the task is proven; or the kernel's fault.
std::vector<std::string> measured_lines(const store::CandidateRecord& record) {
  if (const std::string fault = fault_of(record); !fault.empty()) {
    return {"Verdict: the kernel " + fault + "."};
  }
  const auto& best = record.state.best;
  if (best->speedup <= 0) {
    return {"Speedup: not measured."};
  }
  const double speedup = record.final ? record.final->speedup : best->speedup;
  const tasks::Bounds bounds = record.final ? record.final->speedup_bounds : best->speedup_bounds;
  const std::string interval = speedup_interval_text(bounds);
  std::set<std::string> shapes;
  for (const tasks::CaseResult& result : best->cases) {
    if (result.set == tasks::ShapeSet::Search && result.median_ns > 0) {
      shapes.insert(result.shape);
    }
  }
  std::vector<std::string> lines{
      fmt::format("Speedup: {} as fast as {} ({}), measured {} on {} ({}).",
                  speedup_text(speedup, bounds), record.state.row.speedup_versus,
                  interval.empty() ? "no interval" : "95 %: " + interval,
                  record.final ? "in the final" : "when judged", best->device, best->device_name),
      fmt::format("Measured at: {}.", fmt::join(shapes, "; "))};
  if (!record.task_proof.empty()) {
    lines.push_back("Note: " + record.task_proof + ".");
  }
  return lines;
}

/// The task of today: of the folder that the user names or the store remembers, or of the
/// catalogue.
tasks::Task task_of(const store::RunStore& store, const store::CandidateRecord& record,
                    const std::string& folder) {
  const std::string& name = record.state.row.task;
  tasks::Task task = folder.empty() ? task_of_store(store, name, TaskUse::Show)
                                    : named_task(folder, "", TaskUse::Show);
  if (task.name != name) {
    throw UsageError(
        fmt::format("{} is task {}, but the candidate is of task {}", folder, task.name, name),
        "name the folder of task " + name);
  }
  if (!record.task_proof.empty()) {
    std::cerr << "warning: " << on_one_line(record.task_proof) << '\n';
  }
  if (task.digest != record.task_digest) {
    std::cerr << "warning: the task " << name
              << " has changed since the candidate was judged: the files have the task of today\n";
  }
  return task;
}

} // namespace

tasks::HostProgram ExportedCandidate::program() const {
  return {file,   task,    tasks::choice_with(file.plan, {}).value_or(tasks::ParameterChoice{}),
          shapes, title,   architecture,
          facts,  measured};
}

ExportedCandidate exported_candidate(const ExportOptions& options) {
  const store::RunStore store(find_store(options.store), store::RunStore::Mode::ReadOnly);
  const store::CandidateRecord record =
      store.candidate_record(store.candidate_named(options.candidate));
  tasks::Task task = task_of(store, record, options.task);
  if (const std::string fault = fault_of(record); !fault.empty()) {
    std::cerr << fmt::format("warning: candidate {} {}\n", record.state.row.id, fault);
  }
  std::vector<tasks::Shape> shapes = chosen_shapes(task, options.shape);
  const store::CandidateRow& row = record.state.row;
  return {std::move(task),
          tuned_kernel(record),
          std::move(shapes),
          title_of(record),
          record.state.best ? record.state.best->build.architecture : std::string(),
          row.author,
          fmt::format("winnow_{}_{}", row.id, row.digest.substr(0, 8)),
          record.device_facts,
          measured_lines(record)};
}

void write_new(const fs::path& path, const std::string& text) {
  if (fs::exists(path)) {
    throw UsageError(path.string() + " exists already", "remove the file, or name another folder");
  }
  write_file_atomic(path, text, Readers::Owner);
  std::cout << "wrote " << path.string() << '\n';
}

void add_export_options(CLI::App& command, ExportOptions& options) {
  command
      .add_option("ID", options.candidate,
                  "number of a candidate, or the first 4 or more digits of its file's digest")
      ->required();
  command.add_option(
      "--task", options.task,
      "folder of the candidate's task (default: the folder that the store remembers, else the "
      "catalogue)");
  command.add_option("--store", options.store, kStoreHelp);
}

} // namespace winnow::harness
