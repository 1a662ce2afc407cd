#include "agents/json/json_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/shell_word.h"
#include "harness/commands/commands.h"
#include "harness/named/named_task.h"
#include "harness/report/terminal.h"
#include "harness/report/text_table.h"
#include "store/candidate_record.h"
#include "tasks/host_program/gpumode_file.h"
#include "tasks/host_program/host_program.h"
#include "tasks/host_program/kernelbench_file.h"
#include "tasks/host_program/solution_file.h"
#include "tasks/plan/architecture.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/plan/tuning/tuned_file.h"
#include "tasks/result/speedup.h"
#include "tasks/task/task_file.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

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

tasks::HostProgram ExportedCandidate::program() const {
  return {file,   task,    tasks::choice_with(file.plan, {}).value_or(tasks::ParameterChoice{}),
          shapes, title,   architecture,
          facts,  measured};
}

/// Empty: not known. A store may hold any text.
std::string architecture_of(const store::CandidateRecord& record) {
  const auto& best = record.state.best;
  return best && tasks::is_architecture(best->build.architecture) ? best->build.architecture : "";
}

/// Another compiler sees what Winnow's compilers saw only if no text depends on the compiler.
void warn_of_unjudged_text(const tasks::KernelFile& file) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> macros = tasks::compilers_macros(file.text);
  if (macros.empty()) {
    return;
  }
  macros.resize(std::min(macros.size(), kMostNamed));
  std::cerr << "warning: the kernel file names " << join(macros, ", ")
            << ": another compiler may compile text that Winnow has not judged, also for the CPU; "
               "read these lines before you build\n";
}

/// Reads the candidate, and warns on stderr if its task has changed since.
ExportedCandidate exported_candidate(const ExportOptions& options) {
  const store::RunStore store(find_store(options.store), store::RunStore::Mode::ReadOnly);
  const store::CandidateRecord record =
      store.candidate_record(store.candidate_named(options.candidate));
  tasks::Task task = task_of(store, record, options.task);
  if (const std::string fault = fault_of(record); !fault.empty()) {
    std::cerr << fmt::format("warning: candidate {} {}\n", record.state.row.id, fault);
  }
  std::vector<tasks::Shape> shapes = chosen_shapes(task, options.shape);
  tasks::KernelFile file = tuned_kernel(record);
  warn_of_unjudged_text(file);
  const store::CandidateRow& row = record.state.row;
  return {std::move(task),
          std::move(file),
          std::move(shapes),
          title_of(record),
          architecture_of(record),
          row.author,
          fmt::format("winnow_{}_{}", row.id, row.digest.substr(0, 8)),
          record.device_facts,
          measured_lines(record)};
}

/// Writes a file that must not be there yet, and says so.
void write_new(const fs::path& path, const std::string& text) {
  if (fs::exists(path)) {
    throw UsageError(path.string() + " exists already", "remove the file, or name another folder");
  }
  write_file_atomic(path, text, Readers::Owner);
  std::cout << "wrote " << path.string() << '\n';
}

/// The arguments ID, --task and --store.
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

ExitCode export_kernel(const ExportOptions& options) {
  const ExportedCandidate candidate = exported_candidate(options);
  const tasks::HostProgram program = candidate.program();
  const fs::path folder = options.target;
  fs::create_directories(folder);
  write_new(folder / "kernel.cu", tasks::head_text(program, "// ") + candidate.file.text);
  write_new(folder / "extension.py", tasks::torch_extension(program));
  if (candidate.task.torch) {
    std::cout << "no main.cu: it would compare with reference.cu, and the reference of this task "
                 "is a PyTorch module\n";
  } else {
    write_new(folder / "main.cu", tasks::host_program(program));
    std::cout << "build and run the program on a machine with the CUDA toolkit:\n  cd "
              << shell_word(folder.string()) << " && " << tasks::build_command(program)
              << " && ./kernel\n";
  }
  std::cout << "where PyTorch 2 and the CUDA toolkit are installed, check and time the extension:\n"
            << "  cd " << folder.string() << " && python3 extension.py\n";
  return ExitCode::Done;
}

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

constexpr std::uint64_t kMostBytes = 16U << 20U;

/// Where GPU MODE ranks the task, as its import noted it. Empty if it did not.
tasks::GpuModeBoard board_of(const tasks::Task& task) {
  const fs::path record = task.folder / "import.json";
  if (!fs::exists(record)) {
    return {};
  }
  const nlohmann::json fields =
      agents::json_or_null(tasks::read_task_file(task.folder, record, kMostBytes));
  const nlohmann::json& board = agents::object_member(fields, "board");
  tasks::GpuModeBoard found{agents::text_member(board, "leaderboard"), {}};
  for (const nlohmann::json& gpu : agents::array_member(board, "gpus")) {
    found.gpus.push_back(gpu.is_string() ? gpu.get<std::string>() : "");
  }
  std::erase(found.gpus, "");
  return found;
}

ExitCode export_gpumode(const ExportOptions& options) {
  const ExportedCandidate candidate = exported_candidate(options);
  const std::string text = tasks::gpumode_file(candidate.program(), board_of(candidate.task));
  fs::create_directories(options.target);
  write_new(fs::path(options.target) / "submission.py", text);
  for (const std::string& note : tasks::gpumode_notes(candidate.task, text)) {
    std::cout << "note: " << note << '\n';
  }
  return ExitCode::Done;
}

struct SolutionOptions : ExportOptions {
  std::string benchmark = "flashinfer";
};

ExitCode export_solution(const SolutionOptions& options) {
  const ExportedCandidate candidate = exported_candidate(options);
  const fs::path definition = candidate.task.folder / "definition.json";
  const tasks::SolutionTexts texts{
      candidate.name, "winnow/" + candidate.author,
      fs::exists(definition) ? tasks::read_task_file(candidate.task.folder, definition, kMostBytes)
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

void add_export_kernel(CLI::App& export_command, Action& chosen) {
  const auto [sub, options] =
      add_command(export_command, chosen, "kernel",
                  "Write a candidate as kernel.cu, a kernel file with its tuned parameters, as "
                  "main.cu, a CUDA program that launches, checks and times the kernel, and as "
                  "extension.py, a PyTorch extension. The last two need no Winnow. There is no "
                  "main.cu if the task's reference is a PyTorch module",
                  export_kernel);
  add_export_options(sub, options);
  sub.add_option("DIR", options.target, "folder for the files; Winnow makes it if needed")
      ->required();
  sub.add_option(
      "--shape", options.shape,
      "write main.cu and extension.py for this search shape only, such as search/0 (default: all)");
}

void add_export_kernelbench(CLI::App& export_command, Action& chosen) {
  const auto [sub, options] =
      add_command(export_command, chosen, "kernelbench",
                  "Write a candidate as a Python file that KernelBench's scripts judge: the "
                  "problem's module as it is, and a class ModelNew with the kernel. For tasks "
                  "whose reference is a PyTorch module",
                  export_kernelbench);
  add_export_options(sub, options);
  sub.add_option("DIR", options.target,
                 "folder for the file, which is named as KernelBench's scripts expect; or the "
                 "file itself, if the name ends in .py")
      ->required();
}

void add_export_gpumode(CLI::App& export_command, Action& chosen) {
  const auto [sub, options] =
      add_command(export_command, chosen, "gpumode",
                  "Write a candidate as submission.py with custom_kernel(data), for GPU MODE's "
                  "leaderboard. For tasks of `winnow tasks import gpumode`",
                  export_gpumode);
  add_export_options(sub, options);
  sub.add_option("DIR", options.target, "folder for the file; Winnow makes it if needed")
      ->required();
}

void add_export_solution(CLI::App& export_command, Action& chosen) {
  const auto [sub, options] =
      add_command(export_command, chosen, "solution",
                  "Write a candidate as a Solution in JSON, for FlashInfer-Bench or SOL-ExecBench. "
                  "For tasks of `winnow tasks import definition`",
                  export_solution);
  add_export_options(sub, options);
  sub.add_option("FILE", options.target, "the JSON file to write")->required();
  sub.add_option("--for", options.benchmark, "flashinfer or sol (SOL-ExecBench)")
      ->check(CLI::IsMember({"flashinfer", "sol"}));
}

} // namespace winnow::harness
