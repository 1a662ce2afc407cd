#include "base/error.h"
#include "base/json_dump.h"
#include "evaluators/host/devices.h"
#include "harness/baseline/gpu_comparison.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/commands/own_kernels.h"
#include "harness/exit/interrupt.h"
#include "harness/named/named_task.h"
#include "harness/report/activity.h"
#include "harness/report/terminal.h"
#include "search/outcome.h"

#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr const char* kAllGpus = "all";
constexpr const char* kComparisonRun = "gpu-comparison";
constexpr const char* kSeveralGpus =
    "name several GPUs with --device cuda:0,cuda:1, or a pool of workers with --broker";

struct GpusCommand {
  std::string task;
  std::string store;
  int repeats = 3;
  JudgingOptions judging;
  bool json = false;
};

/// Throws UsageError and DeviceUnavailable.
void choose_devices(JudgingOptions& judging) {
  std::string& device = judging.evaluation.device;
  if (device != kAllGpus) {
    return;
  }
  device = judging.broker.url.empty() ? gpus_of_one_model(evaluators::probe_devices()) : "best";
  if (device.empty()) {
    throw DeviceUnavailable("no GPU works on this machine, and a CPU has nothing to compare with",
                            "run `winnow doctor`, or name a pool of workers with --broker");
  }
}

void require_several_gpus(const evaluators::DevicePool& devices) {
  const evaluators::DeviceReport& first = devices.first();
  if (first.kind == "cpu") {
    throw UsageError("this command compares GPUs, and " + first.name + " is a CPU", kSeveralGpus);
  }
  if (devices.size() < 2) {
    throw DeviceUnavailable(
        fmt::format("{} ({}) is the only GPU, so there is nothing to compare it with", first.id,
                    first.name),
        kSeveralGpus);
  }
}

void keep(const GpusCommand& command, const tasks::Task& task,
          const evaluators::DevicePool& devices, std::vector<tasks::Evaluation> evaluations) {
  for (tasks::Evaluation& evaluation : evaluations) {
    evaluation.promoted = search::may_lead(search::outcome_of(evaluation, ""), nullptr);
  }
  const std::string path = find_store_to_write(command.store);
  CommandStore store(path, CommandStore::Use::Keep);
  OwnKernels(store, kComparisonRun, task, environment_of(devices))
      .keep_baseline(task.baseline, evaluations);
  std::cerr << fmt::format("stored the evaluations in {0}; `winnow leaderboard --store {0}` says "
                           "by how much the GPUs differ\n",
                           path);
}

ExitCode compare_gpus(GpusCommand command) {
  Interrupt interrupt; // before any other thread starts
  const tasks::Task task = named_task(command.task, command.store);
  if (task.baseline.empty()) {
    throw UsageError("the task " + task.name + " has no baseline.cu to compare GPUs with",
                     "choose a task that has one: winnow tasks list");
  }
  choose_devices(command.judging);
  std::optional<Activity> activity(std::in_place);
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.reuse = false; // each evaluation must measure
  options.waiting = activity->listener();
  const auto devices = open_devices(command.judging, options);
  require_several_gpus(*devices);
  evaluators::OneByOne evaluations(devices->factory());
  evaluators::EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task);
  request.text = task.baseline;
  request.file_name = "baseline.cu";
  request.protocol = options;
  const OnInterrupt stop(interrupt, [&] { evaluations.interrupt(); });
  const auto judged = judge_on_each_gpu(evaluations, request, devices->size(), command.repeats);
  activity.reset();
  if (!judged) {
    std::cerr << "interrupted; nothing is stored\n";
    return ExitCode::Interrupted;
  }
  const nlohmann::json document = gpu_comparison_json(task, *judged);
  std::cout << (command.json ? json_document(document) : gpu_comparison_text(document))
            << std::flush;
  keep(command, task, *devices, *judged);
  return ExitCode::Done;
}

} // namespace

void add_baseline_gpus(CLI::App& baseline_command, Action& chosen) {
  const auto [sub, command] = add_command(
      baseline_command, chosen, "gpus",
      "Judge the task's baseline.cu on several GPUs of one model, store the evaluations, "
      "and say by how much the GPUs differ. Leaderboards then say it, too",
      compare_gpus);
  command.judging.evaluation.device = kAllGpus;
  sub.add_option("TASK", command.task, kTaskHelp)->required();
  add_judging_options(sub, command.judging,
                      "GPUs of one model, such as cuda:0,cuda:1; all: every GPU of the model of "
                      "the first GPU");
  sub.remove_option(sub.get_option("--seed")); // what is stored needs new inputs
  sub.add_option("--repeats", command.repeats, "least number of evaluations on each GPU")
      ->check(CLI::Range(1, 100));
  sub.add_option("--store", command.store, kStoreToAddHelp);
  sub.add_flag("--json", command.json,
               "one JSON document, schema winnow.gpu_comparison, version 1");
}

} // namespace winnow::harness
