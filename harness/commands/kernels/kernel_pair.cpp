#include "harness/commands/kernels/kernel_pair.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/evaluation/ordered_results.h"
#include "harness/commands/kernels/kernel_text.h"
#include "harness/commands/own_kernels.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/judging_devices.h"
#include "harness/named/named_task.h"
#include "harness/report/activity.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/proof.h"
#include "tasks/task/baseline.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr int kMostRaces = 2;

/// A kernel file and its parameters, as named on the command line.
struct NamedKernel {
  std::string file;
  std::string text;
  std::optional<tasks::KernelFile> kernel_file; ///< nullopt: its plan has mistakes
  tasks::ParameterChoice parameters;
  std::string digest; ///< SHA-256 of text and parameters
};

std::vector<std::string> values_of(const tasks::Parameter& parameter) {
  std::vector<std::string> values;
  for (const std::int64_t value : parameter.values) {
    values.push_back(std::to_string(value));
  }
  return values;
}

/// Adds "NAME=VALUE" to `wanted`.
void add_assignment(const tasks::KernelFile& file, const std::string& assignment,
                    tasks::ParameterChoice& wanted) {
  const std::size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  const std::string text = equals == std::string::npos ? "" : assignment.substr(equals + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError("'" + assignment + "' is not of the form NAME=VALUE with an integer VALUE");
  }
  std::vector<std::string> names;
  for (const tasks::Parameter& parameter : file.plan.parameters) {
    names.push_back(parameter.name);
    if (parameter.name != name) {
      continue;
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), value) ==
        parameter.values.end()) {
      throw UsageError(fmt::format("{}: the plan does not allow {} = {}; allowed values: {}",
                                   file.file, name, value, join(values_of(parameter), ", ")));
    }
    wanted[name] = value;
    return;
  }
  throw UsageError(file.file + ": the plan has no parameter '" + name + "'" +
                   suggestion(name, names));
}

/// nullopt if the plan allows no choice with these values.
std::optional<tasks::ParameterChoice> choice_of(const tasks::KernelFile& file,
                                                const std::vector<std::string>& assignments) {
  tasks::ParameterChoice wanted;
  for (const std::string& assignment : assignments) {
    add_assignment(file, assignment, wanted);
  }
  return tasks::choice_with(file.plan, wanted);
}

/// Like choice_of(). nullopt also if the plan cannot be evaluated.
std::optional<tasks::ParameterChoice> allowed_choice(const tasks::KernelFile& file,
                                                     const std::vector<std::string>& assignments) {
  try {
    return choice_of(file, assignments);
  } catch (const tasks::ExpressionError&) {
    return std::nullopt;
  }
}

/// Throws UsageError.
NamedKernel load_kernel(KernelText read, const std::vector<std::string>& given) {
  NamedKernel kernel;
  kernel.file = read.name;
  kernel.text = std::move(read.text);
  std::vector<std::string> assignments = assignments_of(read.parameters);
  assignments.insert(assignments.end(), given.begin(), given.end()); // the later one counts
  kernel.kernel_file = tasks::parse_kernel_file(kernel.text, kernel.file).kernel_file;
  if (kernel.kernel_file) {
    const auto choice = allowed_choice(*kernel.kernel_file, assignments);
    if (!choice && !assignments.empty()) {
      throw UsageError(kernel.file +
                       ": no choice of parameters has these values and satisfies every "
                       "`where` of the plan");
    }
    kernel.parameters = choice.value_or(tasks::ParameterChoice{});
    if (!choice) {
      kernel.kernel_file.reset(); // the evaluation of the text gives the reason
    }
  }
  kernel.digest = tasks::kernel_digest(kernel.text, kernel.parameters);
  return kernel;
}

struct NamedPair {
  NamedKernel kernel;
  std::optional<NamedKernel> against;
};

/// Throws UsageError.
NamedPair load_pair(const PairCommand& command, CommandStore& store, const std::string& task) {
  const auto load = [&](const std::string& name, const std::vector<std::string>& assignments) {
    return load_kernel(read_kernel(name, store, task), assignments);
  };
  std::vector<std::string> names{command.file};
  if (!command.against.empty()) {
    names.push_back(command.against);
  }
  check_kernels(names, store, task);
  NamedPair named{load(command.file, command.parameters), std::nullopt};
  if (!command.against.empty()) {
    named.against = load(command.against, command.against_parameters);
  }
  return named;
}

JudgedKernel judged(const NamedKernel& kernel, evaluators::EvaluationRequest request,
                    evaluators::OneByOne& evaluations) {
  request.text = kernel.text;
  request.file_name = kernel.file;
  if (kernel.kernel_file) {
    request.choices = {kernel.parameters};
  }
  return {kernel.file, kernel.digest, evaluation_of(evaluations.evaluate(std::move(request))),
          kernel.text};
}

/// Judges the other kernel first: if it is not correct, a comparison is impossible.
KernelPair judged_pair(const NamedPair& named, evaluators::EvaluationRequest request,
                       evaluators::OneByOne& evaluations, const Interrupt& interrupt,
                       std::string_view versus) {
  const auto& [kernel, against] = named;
  KernelPair pair{request.task->name,
                  {kernel.file, kernel.digest, {}, kernel.text},
                  std::nullopt,
                  std::string(versus)};
  if (against) {
    pair.against = judged(*against, request, evaluations);
    if (pair.against->evaluation.verdict != tasks::Verdict::Correct || interrupt.interrupted()) {
      return pair;
    }
  }
  // A suspended kernel is judged alone again. If it is correct, the kernels race once more.
  for (int races = 0; races < kMostRaces; ++races) {
    if (against) {
      const tasks::Evaluation& alone = pair.against->evaluation;
      request.incumbent = evaluators::KernelToBeat{
          against->text, against->parameters, {alone.speedup, alone.speedup_bounds}};
    }
    pair.kernel = judged(kernel, request, evaluations);
    if (!pair.kernel.evaluation.suspended || interrupt.interrupted()) {
      break;
    }
    request.incumbent.reset();
    pair.against = judged(*against, request, evaluations);
    if (pair.against->evaluation.verdict != tasks::Verdict::Correct || interrupt.interrupted()) {
      break;
    }
  }
  return pair;
}

evaluators::EvaluationOptions options_of(const PairCommand& command, const PairMethod& method,
                                         Activity& activity) {
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.reuse = false; // also judge kernels with equal machine code
  method.adapt(options);
  options.waiting = activity.listener();
  return options;
}

/// nullopt for a correct kernel, otherwise the exit code of the command.
std::optional<ExitCode> failing_exit_code(const tasks::Evaluation& evaluation) {
  switch (evaluation.verdict) {
  case tasks::Verdict::Correct:
    return std::nullopt;
  case tasks::Verdict::Infrastructure:
  case tasks::Verdict::NotJudged:
    return ExitCode::Failure;
  default:
    return ExitCode::NotCorrect;
  }
}

ExitCode exit_code_of(const KernelPair& pair, bool needs_race) {
  if (pair.against) {
    if (const auto failed = failing_exit_code(pair.against->evaluation)) {
      return *failed;
    }
  }
  const bool raced = !needs_race || pair.kernel.evaluation.race;
  return failing_exit_code(pair.kernel.evaluation)
      .value_or(raced ? ExitCode::Done : ExitCode::Failure);
}

void print(const nlohmann::json& document, const PairCommand& command, const PairMethod& method) {
  std::cout << (command.json ? document.dump(2) + "\n" : method.text(document));
}

} // namespace

void add_pair_options(CLI::App& sub, PairCommand& command, const std::string& time_budget,
                      const std::string& json) {
  sub.add_option("TASK", command.task, kTaskHelp)->required();
  command.judging.evaluation.run_timeout = std::chrono::seconds(60);
  std::vector<CLI::Option*> here_only = add_judging_options(sub, command.judging, one_device());
  add_duration(sub, "--time-budget", command.judging.evaluation.time_budget,
               "sampling time per shape and kernel; default " + time_budget);
  here_only.push_back(
      sub.add_option("--max-samples", command.judging.evaluation.max_samples,
                     "timed launches of each kernel per shape, at most; a block of a race has two "
                     "launches of each kernel")
          ->check(CLI::Range(6, 100'000)));
  here_only.push_back(sub.add_option(
      "--store", command.store,
      "SQLite file with the candidates, which also keeps what is measured: the kernels become "
      "candidates of the run `person`, as with `winnow eval --store`, unless they are "
      "candidates already; `show` and `export html` show the measurements, and no board "
      "rests on those of candidates that were judged before (default: candidates come "
      "from $WINNOW_STORE, else the newest *.db; nothing is kept)"));
  sub.add_flag("--json", command.json, "one JSON document, " + json);
  add_server_options(sub, command.judging.server, here_only);
}

ExitCode judge_pair(const PairCommand& command, const PairMethod& method) {
  Interrupt interrupt; // before any other thread starts
  CommandStore store(command.store, CommandStore::Use::Keep);
  const JudgingPlace place(command.judging, command.task, store);
  const tasks::Task& task = place.task();
  const NamedPair named = load_pair(command, store, task.name);
  store.open_if_kept();
  std::optional<Activity> activity(std::in_place);
  evaluators::EvaluationOptions options = options_of(command, method, *activity);
  const auto devices = place.open(options, true);
  if (options.time_budget.count() == 0) {
    options.time_budget = devices->first().kind == "cpu" ? method.cpu_budget : method.gpu_budget;
  }
  const std::string& kind = devices->first().kind;
  activity->away([&] { std::cerr << place.warning(kind); });
  evaluators::OneByOne evaluations(devices->factory());
  evaluators::EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task);
  request.protocol = options;
  const OnInterrupt stop(interrupt, [&] { evaluations.interrupt(); });
  const KernelPair pair =
      judged_pair(named, std::move(request), evaluations, interrupt, place.versus(kind));
  activity.reset();
  if (interrupt.interrupted()) {
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  if (store.keeps()) {
    keep_pair({store, method.name}, task, environment_of(*devices), pair);
  }
  print(method.document(pair), command, method);
  return exit_code_of(pair, method.needs_race);
}

} // namespace winnow::harness
