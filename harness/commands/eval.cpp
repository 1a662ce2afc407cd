#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/config.h"
#include "harness/eval_report.h"
#include "harness/evaluator_judge.h"
#include "harness/interrupt.h"

#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct EvalCommand {
  std::string task;
  std::vector<std::string> files;
  std::string architecture;
  std::size_t max_variants = 1;
  JudgingOptions judging;
  bool no_promotion = false;
  bool no_check = false;
  bool no_timing = false;
  bool no_reuse = false;
  bool compile_only = false;
  bool json = false;
};

evaluators::EvaluationOptions resolved_options(const EvalCommand& command) {
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.promotion = !command.no_promotion;
  options.check = !command.no_check;
  options.timing = !command.no_timing;
  options.reuse = !command.no_reuse;
  return options;
}

/// The evaluations of each file, in the order given; shorter when interrupted.
class Results {
public:
  explicit Results(std::size_t count) : results_(count) {}

  void put(JudgeResult result) {
    {
      const std::lock_guard lock(mutex_);
      ++finished_;
      const auto index = static_cast<std::size_t>(result.candidate);
      results_[index] = std::move(result);
    }
    changed_.notify_all();
  }
  void interrupt() {
    {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return interrupted_ || finished_ == results_.size(); });
  }
  const std::vector<JudgeResult>& all() const { return results_; }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<JudgeResult> results_;
  std::size_t finished_ = 0;
  bool interrupted_ = false;
};

void judge_files(const EvalCommand& command, const tasks::Task& task, const OpenDevices& devices,
                 Interrupt& interrupt, Results& results) {
  JudgePoolSetup setup = devices.pool();
  setup.done = [&](JudgeResult result) { results.put(std::move(result)); };
  JudgePool pool(std::move(setup));
  const OnInterrupt stop(interrupt, [&] { results.interrupt(); });
  for (std::size_t i = 0; i < command.files.size(); ++i) {
    pool.add({&task, static_cast<std::int64_t>(i), read_kernel(command.files[i]), command.files[i],
              command.max_variants});
  }
  if (!interrupt.interrupted()) {
    results.wait();
  }
  pool.stop();
}

void print_text(const EvalCommand& command, const std::vector<JudgeResult>& results) {
  for (const JudgeResult& result : results) {
    if (results.size() > 1) {
      std::cout << "== " << command.files[static_cast<std::size_t>(result.candidate)] << '\n';
    }
    if (result.evaluations.empty()) {
      std::cout << "not judged: " << result.error << '\n';
      continue;
    }
    std::cout << eval_text(result.evaluations.front());
    for (std::size_t i = 1; i < result.evaluations.size(); ++i) {
      std::cout << "variant " << parameters_text(result.evaluations[i].parameters) << ": "
                << to_string(result.evaluations[i].verdict) << '\n';
    }
  }
}

void print_json(const EvalCommand& command, const std::vector<JudgeResult>& results) {
  nlohmann::json documents = nlohmann::json::array();
  for (const JudgeResult& result : results) {
    if (result.evaluations.empty()) {
      throw Error(result.error);
    }
    nlohmann::json document = tasks::evaluation_json(result.evaluations.front());
    document["file"] = command.files[static_cast<std::size_t>(result.candidate)];
    documents.push_back(std::move(document));
  }
  std::cout << (documents.size() == 1 ? documents.front() : documents).dump(2) << '\n';
}

ExitCode exit_code_of(const std::vector<JudgeResult>& results) {
  ExitCode worst = ExitCode::Done;
  for (const JudgeResult& result : results) {
    const tasks::Verdict verdict = result.evaluations.empty() ? tasks::Verdict::Infrastructure
                                                              : result.evaluations.front().verdict;
    if (verdict == tasks::Verdict::Infrastructure || verdict == tasks::Verdict::NotJudged) {
      return ExitCode::Failure;
    }
    worst = verdict == tasks::Verdict::Correct ? worst : ExitCode::NotCorrect;
  }
  return worst;
}

ExitCode print(const EvalCommand& command, const std::vector<JudgeResult>& results) {
  if (command.json) {
    print_json(command, results);
  } else {
    print_text(command, results);
  }
  return exit_code_of(results);
}

ExitCode compile_files(const EvalCommand& command, const tasks::Task& task) {
  const evaluators::EvaluationOptions options = resolved_options(command);
  const std::string kind = options.device == "best" ? "cuda" : options.device;
  if (kind != "cuda" && kind != "hip") {
    throw UsageError("--compile-only is for --device cuda or hip, not " + kind);
  }
  const std::string fallback = kind == "hip" ? "gfx90a" : "sm_90a";
  std::vector<JudgeResult> results;
  bool all_compile = true;
  for (const std::string& file : command.files) {
    const tasks::Evaluation evaluation = evaluators::compile_only(
        task, read_kernel(file), file, kind,
        command.architecture.empty() ? fallback : command.architecture, options);
    all_compile = all_compile && evaluation.verdict == tasks::Verdict::NotJudged;
    results.push_back({static_cast<std::int64_t>(results.size()), {evaluation}, {}});
  }
  print(command, results);
  return all_compile ? ExitCode::Done : ExitCode::NotCorrect;
}

ExitCode eval(const EvalCommand& command) {
  Interrupt interrupt; // before any other thread
  const tasks::Task task = tasks::find_task(tasks::find_catalogue(), command.task);
  for (const std::string& file : command.files) {
    read_kernel(file); // says what is wrong with one before others are judged
  }
  if (command.compile_only) {
    return compile_files(command, task);
  }
  if (!command.architecture.empty()) {
    throw UsageError("--arch is for --compile-only: what runs is compiled for the device here");
  }
  const OpenDevices devices(resolved_options(command));
  Results results(command.files.size());
  judge_files(command, task, devices, interrupt, results);
  if (interrupt.interrupted()) {
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  const ExitCode code = print(command, results.all());
  if (devices.first().kind != "cpu") {
    std::cerr << "worker restarts: " << devices.statistics().worker_restarts << '\n';
  }
  return code;
}

void add_options(CLI::App& sub, EvalCommand& command) {
  sub.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
  sub.add_option("FILE", command.files,
                 "kernel files, judged one after the other: device code with its launch plan, at "
                 "most 1 MiB each")
      ->required();
  add_judging_options(sub, command.judging,
                      "best, cpu, cuda, hip, or a list such as cuda:0,cuda:1");
  sub.add_flag("--compile-only", command.compile_only,
               "compile for a GPU that need not be here, say what the kernels use, run nothing");
  sub.add_option("--arch", command.architecture,
                 "architecture for --compile-only: sm_90a (default for cuda), gfx90a (hip), ...");
  sub.add_option("--tiny-seeds", command.judging.evaluation.tiny_seeds,
                 "sets of inputs for each tiny shape")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  sub.add_option("--max-variants", command.max_variants,
                 "choices of parameters to try; 1: the default choice only")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  sub.add_flag("--no-promotion", command.no_promotion, "skip the hidden shapes");
  sub.add_flag("--no-check", command.no_check, "skip the run that looks for races and the like");
  sub.add_flag("--no-timing", command.no_timing, "judge only; no times, no speedup");
  sub.add_flag(
      "--no-reuse", command.no_reuse,
      "judge a file again whose GPU machine code and launches are those of an earlier one");
  add_time_budget(sub, command.judging.time_budget, "150ms on the cpu, 20ms on a GPU");
  sub.add_option(
      "--precheck-cmd", command.judging.evaluation.precheck,
      "a shell command that gets each kernel file on stdin and prints a JSON object with "
      "should_filter; what it refuses, or fails on, is not run");
  sub.add_flag("--json", command.json,
               "a JSON document, schema winnow.evaluation, version 1; for several files "
               "an array of them");
}

} // namespace

void add_eval(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* sub =
      app.add_subcommand("eval", "Judge kernel files: compile, verify, time, verify unseen");
  add_options(*sub, *command);
  sub->callback([command, &chosen] { chosen = [command] { return eval(*command); }; });
}

} // namespace winnow::harness
