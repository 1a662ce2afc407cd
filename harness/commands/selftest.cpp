#include "base/error.h"
#include "base/freed_memory.h"
#include "base/random_bits.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "evaluators/torch/python.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/activity.h"
#include "harness/selftest/reference_agreement.h"
#include "harness/selftest/selftest_report.h"
#include "tasks/proof.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace winnow::harness {
namespace {

struct SelftestCommand {
  std::vector<std::string> names;
  std::optional<std::uint64_t> seed;
  ProofOptions proof;
  bool write_golden = false;
  bool json = false;
  bool verbose = false;
};

std::vector<tasks::Task> chosen_tasks(const SelftestCommand& command) {
  std::vector<tasks::Task> chosen = named_tasks(command.names);
  for (std::size_t i = 0; i < command.names.size(); ++i) {
    if (command.write_golden && chosen[i].torch) {
      throw UsageError(command.names[i] + " has no reference.cu that could agree with golden.json",
                       "leave out the tasks whose reference is a PyTorch module");
    }
  }
  return chosen;
}

ExitCode write_all_golden(const SelftestCommand& command, const std::vector<tasks::Task>& tasks,
                          const std::shared_ptr<evaluators::DeviceHost>& host) {
  for (const tasks::Task& task : tasks) {
    evaluators::Selftest selftest(task, host, command.proof.selftest);
    const ReferenceAgreement agreement = write_golden(task, selftest, command.proof.agreement);
    std::cout << golden_file(task).string() << ": answers of " << agreement.source << " at "
              << agreement.shapes << " shapes\n";
    for (const std::string& note : agreement.notes) {
      std::cerr << task.name << ": " << note << '\n';
    }
  }
  return ExitCode::Done;
}

ExitCode selftest(SelftestCommand command) {
  keep_freed_memory();
  if (command.write_golden && command.names.empty()) {
    throw UsageError("--write-golden needs a TASK", "name the tasks that get a golden.json");
  }
  const std::vector<tasks::Task> tasks = chosen_tasks(command);
  evaluators::SelftestOptions& options = command.proof.selftest;
  // A fixed default seed, so that golden.json does not change when it is written again.
  options.seed = command.seed.value_or(command.write_golden ? 1 : random_bits());
  command.proof.agreement.seed = options.seed;
  command.proof.agreement.isolation = options.evaluation.require_isolation;
  check_isolation(options.evaluation);
  const evaluators::DeviceReport device = evaluators::select_device(options.evaluation.device);
  const auto host =
      evaluators::open_device(device, options.evaluation, options.evaluation.run_timeout);
  if (command.write_golden) {
    return write_all_golden(command, tasks, host);
  }
  Activity activity;
  options.evaluation.waiting = activity.listener();
  const SelftestReport report{device.kind, device.name, options.seed,
                              prove_tasks(tasks, host, command.proof, activity)};
  activity.away([&] {
    std::cout << (command.json ? to_json_text(report) : to_text(report, command.verbose))
              << std::flush;
  });
  for (const TaskSelftest& task : report.tasks) {
    if (task.failure.empty()) {
      tasks::keep_proof(task.digest, device.kind, is_proven(task));
    }
  }
  const auto has_result = [](const TaskSelftest& task) { return task.failure.empty(); };
  if (!std::all_of(report.tasks.begin(), report.tasks.end(), has_result)) {
    return ExitCode::Failure;
  }
  return std::all_of(report.tasks.begin(), report.tasks.end(), is_proven) ? ExitCode::Done
                                                                          : ExitCode::NotCorrect;
}

void add_options(CLI::App& sub, SelftestCommand& command) {
  command.proof.selftest.evaluation.device = "cpu";
  command.proof.selftest.evaluation.run_timeout = std::chrono::seconds(60);
  command.proof.agreement.python = evaluators::default_python();
  CLI::Option* names =
      sub.add_option("TASK", command.names,
                     "name, category/name or folder of each task; default: the whole catalogue");
  const std::string whole_catalogue = "the whole catalogue, as without names";
  sub.add_flag("--all", whole_catalogue)->excludes(names);
  sub.add_option("--device", command.proof.selftest.evaluation.device,
                 tasks::device_words() + ", best, cuda:1, ...");
  add_isolation_option(sub, command.proof.selftest.evaluation.require_isolation);
  sub.add_option("--seed", command.seed,
                 "seed that an earlier selftest has shown, to repeat that selftest (default: a new "
                 "seed; 1 for --write-golden)");
  sub.add_option("--seeds", command.proof.selftest.seeds, "inputs per shape for each honest kernel")
      ->check(CLI::Range(1, 100));
  sub.add_option("--jobs", command.proof.jobs,
                 "tasks to prove side by side; 0: two on the CPU; on a GPU one for each two cores, "
                 "but at most eight")
      ->check(CLI::Range(0, 64));
  sub.add_option("--python", command.proof.agreement.python,
                 "Python, by name or path; the selftest uses PyTorch if this Python has it");
  add_duration(sub, "--timeout", command.proof.selftest.evaluation.run_timeout,
               "wall-clock limit of one run: a kernel on all shapes of a set");
  sub.add_flag(
      "--write-golden", command.write_golden,
      "write PyTorch's answers at the tiny shapes to golden.json of each task if they agree "
      "with reference.cu; prove nothing else");
  sub.add_flag("--verbose", command.verbose,
               "also print the errors of each narrowed intermediate and each kernel at the search "
               "shapes, to choose a tolerance between them (--json always has them)");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.selftest, version 3");
}

} // namespace

void add_selftest(CLI::App& tasks_command, Action& chosen) {
  const auto [sub, command] = add_command(
      tasks_command, chosen, "selftest",
      "Prove tasks: mutants of the reference are rejected, honest kernels are accepted, "
      "and reference.cu agrees with reference.py (exit code 10: a task is not proven)",
      selftest);
  add_options(sub, command);
}

} // namespace winnow::harness
