#include "base/digest.h"
#include "base/error.h"
#include "evaluators/evaluation/ordered_results.h"
#include "harness/brief/brief.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/commands/kernels/compile_kernels.h"
#include "harness/commands/kernels/kernel_text.h"
#include "harness/commands/own_kernels.h"
#include "harness/config/config_keys.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/activity.h"
#include "harness/report/eval_printer.h"
#include "search/outcome.h"
#include "tasks/proof.h"
#include "tasks/task/baseline.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct EvalCommand {
  std::string task;
  std::vector<std::string> files;
  std::string store; ///< empty: nothing is stored
  std::string as;
  CompileOptions compiling;
  JudgingOptions judging;
  bool no_promotion = false;
  bool no_check = false;
  bool no_timing = false;
  bool no_reuse = false;
  EvalForm form;
};

evaluators::EvaluationOptions resolved_options(const EvalCommand& command) {
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.promotion = !command.no_promotion;
  options.check = !command.no_check;
  options.timing = !command.no_timing;
  options.reuse = !command.no_reuse && command.store.empty();
  return options;
}

// Number of files that are queued or judged at the same time. Enough to keep all devices and
// compilers busy; a limit, so that thousands of files need no more memory.
constexpr std::size_t kFilesAtOnce = 256;

void judge_files(const EvalCommand& command, CommandStore& store, const tasks::Task& task,
                 const evaluators::Protocol& protocol, const evaluators::DevicePool& devices,
                 Interrupt& interrupt, Activity& activity, EvalPrinter& printer, OwnKernels* own) {
  evaluators::OrderedResults results;
  const auto evaluations = devices.evaluations(
      [&](evaluators::EvaluationResult result) { results.put(std::move(result)); });
  evaluators::EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task);
  request.protocol = protocol;
  const OnInterrupt stop(interrupt, [&] { results.interrupt(); });
  const std::vector<std::string>& files = command.files;
  std::vector<std::string> names, digests, texts;
  std::vector<std::vector<search::Trial>> tried;
  std::size_t added = 0;
  for (std::size_t printed = 0; printed < files.size(); ++printed) {
    for (; added < std::min(files.size(), printed + kFilesAtOnce); ++added) {
      KernelText kernel = read_kernel(files[added], store, task.name);
      request.text = std::move(kernel.text);
      request.file_name = kernel.name;
      names.push_back(kernel.name);
      tried.push_back(std::move(kernel.tried));
      request.choices.clear();
      if (!kernel.parameters.empty()) {
        request.choices = {std::move(kernel.parameters)};
      }
      request.id = evaluators::request_id(request, static_cast<std::int64_t>(added));
      digests.push_back(sha256_hex(request.text));
      texts.push_back(own == nullptr ? std::string() : request.text);
      results.expect(request.id);
      evaluations->submit(request);
    }
    std::optional<evaluators::EvaluationResult> result = results.next();
    if (!result) {
      break;
    }
    for (tasks::Evaluation& evaluation : result->evaluations) {
      evaluation.promoted = search::may_lead(search::outcome_of(evaluation, ""), nullptr);
    }
    activity.away([&] {
      printer.add(names[printed], digests[printed], *result, "", std::move(tried[printed]));
      if (own != nullptr && !result->evaluations.empty()) {
        std::cerr << own->keep(names[printed], texts[printed], result->evaluations.front()) << '\n';
        texts[printed].clear();
      }
      std::cout << std::flush;
    });
    activity.count(fmt::format("{}/{} judged", printed + 1, files.size()));
  }
  evaluations->stop();
}

/// What a board shows must have been judged in full.
void check_storable(const EvalCommand& command) {
  if (command.store.empty() && !command.as.empty()) {
    throw UsageError("--as works only with --store FILE");
  }
  const bool is_partial = command.no_promotion || command.no_check || command.no_timing ||
                          command.compiling.compile_only ||
                          command.judging.evaluation.seed.has_value();
  if (!command.store.empty() && is_partial) {
    throw UsageError("--store needs a full evaluation with new inputs",
                     "remove --no-promotion, --no-check, --no-timing, --compile-only and --seed");
  }
}

ExitCode eval(const EvalCommand& command) {
  Interrupt interrupt; // before any other thread starts
  check_storable(command);
  CommandStore store(command.store, CommandStore::Use::Keep);
  const JudgingPlace place(command.judging, command.task, store);
  const tasks::Task& task = place.task();
  check_kernels(command.files, store, task.name); // before other files are judged
  check_compile_options(command.compiling);
  if (command.compiling.compile_only) {
    EvalForm form = command.form;
    form.only_compiled = true;
    EvalPrinter printer(std::cout, task, form, command.files.size(), tasks::speedup_versus(task));
    return compile_kernels(command.compiling, command.files, store, task, resolved_options(command),
                           printer);
  }
  const auto start = std::chrono::steady_clock::now();
  std::optional<Activity> activity(std::in_place);
  evaluators::EvaluationOptions options = resolved_options(command);
  options.waiting = activity->listener();
  const auto opened = place.open(options);
  const evaluators::DevicePool& devices = *opened;
  EvalPrinter printer(std::cout, task, command.form, command.files.size(),
                      place.versus(devices.first().kind), place.light(devices, options));
  activity->away([&] { std::cerr << place.warning(devices.first().kind); });
  std::optional<OwnKernels> own;
  if (store.keeps()) {
    own.emplace(store, command.as.empty() ? kOwnKernelsRun : command.as, task,
                environment_of(devices));
  }
  judge_files(command, store, task, options, devices, interrupt, *activity, printer,
              own ? &*own : nullptr);
  activity.reset();
  if (interrupt.interrupted()) {
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  if (devices.first().kind != "cpu" || !command.judging.broker.url.empty() ||
      !command.judging.server.server.empty()) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cerr << devices.account(command.files.size(), seconds.count());
  }
  return printer.finish();
}

void add_options(CLI::App& sub, EvalCommand& command) {
  sub.add_option("TASK", command.task, kTaskHelp)->required();
  sub.add_option("FILE", command.files,
                 std::string("kernel files: device code with a launch plan, at most 1 MiB each") +
                     kOrCandidate)
      ->required();
  std::vector<CLI::Option*> here_only;
  const auto only_here = [&](CLI::Option* option) { return here_only.emplace_back(option); };
  only_here(sub.add_option(
      "--store", command.store,
      "put the kernels on the board of this SQLite file, as a person's, and look @ID up "
      "there (default: store nothing, and look @ID up where `winnow leaderboard` does)"));
  only_here(sub.add_option(
      "--as", command.as, "name of the run that keeps the kernels in the store (default: person)"));
  for (const auto& added : {add_judging_options(sub, command.judging, several_devices()),
                            add_compile_options(sub, command.compiling)}) {
    here_only.insert(here_only.end(), added.begin(), added.end());
  }
  only_here(sub.add_option("--tiny-seeds", command.judging.evaluation.tiny_seeds,
                           "sets of inputs for each tiny shape"))
      ->check(CLI::Range(1, 100));
  only_here(sub.add_flag("--no-promotion", command.no_promotion, "skip the hidden shapes"));
  only_here(sub.add_flag("--no-check", command.no_check,
                         "skip check mode, which looks for data races and similar mistakes"));
  sub.add_flag("--no-timing", command.no_timing, "judge only the answers: no times, no speedup");
  sub.add_flag(
      "--no-reuse", command.no_reuse,
      "judge each file, even if its GPU machine code and launches equal those of an earlier file");
  add_duration(sub, "--time-budget", command.judging.evaluation.time_budget, kTimeBudgetHelp);
  only_here(sub.add_option("--precheck-cmd", command.judging.evaluation.precheck,
                           find_config_key("evaluation", "precheck")->help));
  sub.add_flag("--brief", command.form.brief,
               "only what an author needs for the next kernel: a table of the files, best first, "
               "and the reason why a kernel is not correct; with --json one object of fewer than "
               "4 kB for each file, schema winnow.brief, version 1")
      ->excludes("--sass");
  sub.add_flag("--json", command.form.json,
               "one JSON document, schema winnow.evaluation, version 3; for several files an array "
               "of documents");
  add_server_options(sub, command.judging.server, here_only);
}

} // namespace

void add_eval(CLI::App& app, Action& chosen) {
  const auto [sub, command] =
      add_command(app, chosen, "eval",
                  "Judge kernel files: compile them, check their answers, time them, "
                  "and check their answers on hidden shapes",
                  eval);
  add_options(sub, command);
}

} // namespace winnow::harness
