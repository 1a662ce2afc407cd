#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text/shell_word.h"
#include "harness/client/server_tuning.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/commands/kernels/kernel_text.h"
#include "harness/exit/interrupt.h"
#include "harness/named/named_task.h"
#include "harness/report/activity.h"
#include "harness/report/eval_report.h"
#include "harness/report/timed_shapes.h"
#include "harness/report/tuning_report.h"
#include "harness/tuning/tune_family.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/plan/tuning/tuned_file.h"
#include "tasks/proof.h"
#include "tasks/task/baseline.h"
#include "tasks/task/task.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

struct TuneCommand {
  std::string task, file, output, store;
  std::size_t max_variants = 256;
  double seconds = 60;
  JudgingOptions judging;
  bool json = false;
};

tasks::KernelFile parsed_file(const TuneCommand& command, const std::string& text) {
  tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, command.file);
  if (!parsed.kernel_file) {
    throw UsageError(to_string(parsed.errors.front()), kernel_form(shell_word(command.task)));
  }
  return std::move(*parsed.kernel_file);
}

std::vector<tasks::ParameterChoice> choices_of(const TuneCommand& command,
                                               const tasks::KernelFile& file) {
  try {
    auto choices = tasks::parameter_choices(file.plan, command.max_variants);
    if (!choices.empty()) {
      return choices;
    }
  } catch (const tasks::ExpressionError& error) {
    throw UsageError(command.file + ": where: " + error.what(), "correct the kernel file");
  }
  throw UsageError(command.file + ": no choice of parameters satisfies every `where`",
                   "relax `where`, or add values to `params`");
}

fs::path output_of(const TuneCommand& command) {
  return command.output.empty() ? fs::path(stem_of(command.file) + ".tuned.cu")
                                : fs::path(command.output);
}

/// The file whose default is the best choice or, if that is faster, that chooses by shape.
std::string tuned_text(const tasks::KernelFile& file, TuningRequest tuning,
                       evaluators::OneByOne& evaluations, TuningReport& report) {
  const tasks::Task& task = *tuning.request.task;
  const tasks::ParameterChoice& best = report.family.best().parameters;
  const std::string with_best = tasks::with_default(file, best);
  const auto by_shape = best_by_shape(report.family.trials);
  if (by_shape.empty()) {
    return with_best;
  }
  std::vector<tasks::ShapeWinner> winners;
  const std::vector<tasks::Shape> shapes =
      task.shapes_of(tasks::ShapeSet::Search, report.family.best().device);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    winners.push_back({shapes[i], by_shape.at(i)});
  }
  std::string why_not;
  const auto dispatching = tasks::with_dispatch(file, task, winners, why_not);
  if (!dispatching) {
    report.dispatch =
        "the shapes have different best choices, but the file cannot choose by shape: " + why_not;
    return with_best;
  }
  tuning.request.text = *dispatching;
  tuning.request.protocol.time_budget = tuning.race_budget;
  tuning.request.incumbent = evaluators::KernelToBeat{file.text, best};
  const tasks::Evaluation evaluation = evaluation_of(evaluations.evaluate(tuning.request));
  const bool is_faster = evaluation.race && evaluation.race->verdict == "faster" &&
                         evaluation.verdict == tasks::Verdict::Correct;
  report.dispatch =
      is_faster ? fmt::format("choosing by shape is {} as fast as one choice: {} (99 %)",
                              ratio_text(evaluation.race->ratio.value()),
                              ratio_interval_text(evaluation.race->bounds))
                : "the shapes have different best choices, but a file that chooses by shape won no "
                  "race";
  return is_faster ? *dispatching : with_best;
}

/// Writes the tuned file and prints the report.
ExitCode finish(const TuneCommand& command, const std::string& text, const std::string& tuned,
                TuningReport& report) {
  const bool is_correct = report.family.of_default.verdict == tasks::Verdict::Correct;
  if (is_correct) {
    report.is_unchanged = tuned == text;
    report.tuned_file = output_of(command).string();
    write_file_atomic(report.tuned_file, tuned);
  }
  const nlohmann::json document = tuning_json(report);
  std::cout << (command.json ? document.dump(2) + '\n' : tuning_text(document));
  return is_correct ? ExitCode::Done : ExitCode::NotCorrect;
}

/// The server tries the choices.
ExitCode tune_at_server(TuneCommand command, Interrupt& interrupt) {
  CommandStore store(command.store);
  const JudgingPlace place(command.judging, command.task, store);
  const KernelText read = read_kernel(command.file, store, place.task().name);
  command.file = read.name;
  const tasks::KernelFile file = parsed_file(command, read.text);
  choices_of(command, file); // throws if there are none
  const AtomicFile probe(output_of(command));
  std::stop_source stop;
  const OnInterrupt stopping(interrupt, [&] { stop.request_stop(); });
  TuningReport report{place.task().name, command.file, sha256_hex(read.text), {}, {}, {}, {}, {}};
  report.family = tuned_at_server(command.judging.server, place.task().name, read.text,
                                  command.max_variants, stop.get_token());
  const tasks::Evaluation& best = report.family.best();
  report.speedup_versus = place.versus(best.device);
  for (const tasks::CaseResult& one : report.family.of_default.cases) {
    if (one.set == tasks::ShapeSet::Search && one.median_ns > 0) {
      report.shapes.push_back(one.shape);
    }
  }
  if (!best_by_shape(report.family.trials).empty()) {
    report.dispatch = "the shapes have different best choices, but at a server no file that "
                      "chooses by shape is tried";
  }
  const bool is_correct = report.family.of_default.verdict == tasks::Verdict::Correct;
  return finish(command, read.text, is_correct ? tasks::with_default(file, best.parameters) : "",
                report);
}

ExitCode tune(TuneCommand command) {
  Interrupt interrupt; // before any other thread starts
  if (!command.judging.server.server.empty()) {
    return tune_at_server(std::move(command), interrupt);
  }
  CommandStore store(command.store);
  const tasks::Task task = named_task(command.task, store);
  const KernelText read = read_kernel(command.file, store, task.name);
  command.file = read.name;
  const std::string& text = read.text;
  const tasks::KernelFile file = parsed_file(command, text);
  const AtomicFile probe(output_of(command)); // before minutes of work
  TuningRequest tuning;
  tuning.choices = choices_of(command, file);
  tuning.most_seconds = command.seconds;
  std::optional<Activity> activity(std::in_place);
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.waiting = activity->listener();
  const auto opened = open_devices(command.judging, options);
  const evaluators::DevicePool& devices = *opened;
  activity->away([&] { std::cerr << tasks::unproven_warning({task}, devices.first().kind); });
  evaluators::OneByOne evaluations(devices.factory());
  tuning.request.task = std::make_shared<const tasks::Task>(task);
  tuning.request.text = text;
  tuning.request.file_name = command.file;
  tuning.request.protocol = options;
  tuning.race_budget =
      options.time_budget.count() > 0 ? options.time_budget : race_budget(devices.first().kind);
  const OnInterrupt stop(interrupt, [&] { evaluations.interrupt(); });
  double busy_before = 0, busy = 0;
  auto family = tune_family(tuning, evaluations, [&](std::size_t tried, std::size_t all) {
    const double now = devices.statistics().run_seconds;
    busy_before = tried == 0 ? now : busy_before;
    busy = (now - busy_before) / static_cast<double>(devices.size());
    activity->count(fmt::format("{}/{} choices tried", tried, all));
  });
  if (!family || interrupt.interrupted()) {
    activity.reset();
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  TuningReport report{task.name, command.file, sha256_hex(text), {}, std::move(*family), {}, {},
                      {}};
  report.speedup_versus = tasks::speedup_versus(task, devices.first().kind);
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, devices.first().kind)) {
    report.shapes.push_back(to_string(shape));
  }
  if (!command.judging.broker.url.empty()) { // what the workers say
    busy = report.family.device_seconds / static_cast<double>(devices.size());
  }
  const double seconds = report.family.seconds.value_or(0);
  report.busy_share = seconds > 0 ? busy / seconds : 0;
  std::string tuned;
  if (report.family.of_default.verdict == tasks::Verdict::Correct) {
    tuned = tuned_text(file, tuning, evaluations, report);
  }
  activity.reset();
  return finish(command, text, tuned, report);
}

void add_options(CLI::App& sub, TuneCommand& command) {
  sub.add_option("TASK", command.task, kTaskHelp)->required();
  sub.add_option("FILE", command.file, std::string("a kernel file with parameters") + kOrCandidate)
      ->required();
  CLI::Option* store = add_store_of_kernels(sub, command.store);
  sub.add_option("-o,--output", command.output,
                 "path of the tuned file; default: NAME.tuned.cu or candidate-ID.tuned.cu in the "
                 "current folder");
  sub.add_option(
         "--max-variants", command.max_variants,
         "number of parameter choices to choose from; of more choices Winnow takes a sample")
      ->check(CLI::Range(2, 10'000));
  CLI::Option* seconds =
      sub.add_option("--seconds", command.seconds,
                     "begin no further round of trials after so many seconds of the device")
          ->check(above_zero());
  std::vector<CLI::Option*> here_only =
      add_judging_options(sub, command.judging, several_devices());
  here_only.insert(
      here_only.end(),
      {store, seconds,
       add_duration(sub, "--time-budget", command.judging.evaluation.time_budget,
                    std::string(kTimeBudgetHelp) + "; for the race at the end 1s and 300ms")});
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.tuning, version 1");
  add_server_options(sub, command.judging.server, here_only);
}

} // namespace

void add_tune(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "tune",
      "Find the best values of a kernel file's parameters, and write the file with these "
      "values (exit code 10: the kernel is not correct)",
      tune);
  add_options(sub, command);
}

} // namespace winnow::harness
