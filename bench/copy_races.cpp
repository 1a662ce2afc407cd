// Races a kernel file against its copy (another text, the same speed) again and again, each time on
// new inputs, and prints as Markdown what the races said. A word or an interval that tells the two
// apart is wrong.
//   copy_races [--races 400] [--device cpu] [--task FOLDER] [--kernel FILE] [--budget-ms 100]
#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/timing/race_blocks.h"
#include "evaluators/workers.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace winnow;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20U;

struct Settings {
  int races = 400;
  std::string device = "cpu";
  std::string task = WINNOW_SOURCE_DIR "/bench/tasks/axpy_short";
  std::string kernel; ///< a kernel file; empty: the task's baseline
  int budget_ms = 100;
};

/// What the races said.
struct Tally {
  std::map<std::string, int> verdicts;
  int excludes_one = 0; ///< intervals
  int without_end = 0;  ///< intervals, of too few launches
  int disagree = 0;     ///< words that say more than their interval
  double blocks = 0;

  void add(const tasks::RaceResult& race) {
    const bool excludes = race.bounds.low > 1 || race.bounds.high < 1;
    const bool decided = race.verdict == "faster" || race.verdict == "slower";
    ++verdicts[race.verdict];
    excludes_one += excludes ? 1 : 0;
    without_end += std::isfinite(race.bounds.high) ? 0 : 1;
    disagree += decided && !excludes ? 1 : 0;
    blocks += race.blocks;
  }
};

evaluators::EvaluationOptions options_of(const Settings& settings) {
  evaluators::EvaluationOptions options;
  options.device = settings.device;
  options.check = options.promotion = options.reuse = false;
  options.tiny_seeds = 1;
  options.time_budget = std::chrono::milliseconds(settings.budget_ms);
  return options;
}

void race_copies(const Settings& settings, evaluators::Evaluator& evaluator,
                 const std::string& text, Tally& tally) {
  const auto parsed = tasks::parse_kernel_file(text, "kernel.cu");
  if (!parsed.kernel_file) {
    throw Error("the kernel file has mistakes; winnow eval names them");
  }
  const tasks::ParameterChoice choice = tasks::parameter_choices(parsed.kernel_file->plan, 1).at(0);
  evaluator.set_incumbent(evaluators::KernelToBeat{text + "\n// A copy.\n", choice});
  for (int i = 0; i < settings.races; ++i) {
    const tasks::Evaluation result = evaluator.evaluate(*parsed.kernel_file, choice);
    if (result.verdict != tasks::Verdict::Correct || !result.race) {
      throw Error(fmt::format("race {}: the kernel is {}: {}", i + 1, to_string(result.verdict),
                              result.detail));
    }
    tally.add(*result.race);
  }
}

void print(const Settings& settings, const std::string& device, const Tally& tally,
           double seconds) {
  const auto percent = [&](int count) { return 100.0 * count / settings.races; };
  std::array<double, 3> load{};
  getloadavg(load.data(), static_cast<int>(load.size()));
  fmt::print(
      "{} races of a kernel against its copy, {}, {} ms for each kernel and shape, {:.0f} s, "
      "load {:.1f} (15 minutes {:.1f}), {:.1f} blocks a race.\n\n",
      settings.races, device, settings.budget_ms, seconds, load[0], load[2],
      tally.blocks / settings.races);
  fmt::print("| | races | share |\n|---|---|---|\n");
  for (const auto& [verdict, count] : tally.verdicts) {
    fmt::print("| {} | {} | {:.1f} % |\n", verdict, count, percent(count));
  }
  fmt::print("| the interval excludes 1 | {} | {:.1f} % |\n", tally.excludes_one,
             percent(tally.excludes_one));
  fmt::print("| at most, as printed | {:.0f} | {:.1f} % |\n",
             2 * evaluators::kRaceRules.error_rate * settings.races,
             200 * evaluators::kRaceRules.error_rate);
  fmt::print("| the interval has no end | {} | {:.1f} % |\n", tally.without_end,
             percent(tally.without_end));
  fmt::print("| the word says more than the interval | {} | {:.1f} % |\n", tally.disagree,
             percent(tally.disagree));
}

int run(int argc, char** argv) {
  CLI::App app("Races a kernel against its copy, and counts the races that tell the two apart.");
  Settings settings;
  app.add_option("--races", settings.races)->check(CLI::Range(1, 100'000));
  app.add_option("--device", settings.device);
  app.add_option("--task", settings.task, "a task's folder")->check(CLI::ExistingDirectory);
  app.add_option("--kernel", settings.kernel, "default: the task's baseline")
      ->check(CLI::ExistingFile);
  app.add_option("--budget-ms", settings.budget_ms, "for each kernel and shape")
      ->check(CLI::Range(1, 100'000));
  CLI11_PARSE(app, argc, argv);
  const evaluators::EvaluationOptions options = options_of(settings);
  const tasks::Task task = tasks::load_task(settings.task);
  const std::string text =
      settings.kernel.empty() ? task.baseline : read_file(settings.kernel, kMaxFileBytes);
  const evaluators::DeviceReport device = evaluators::select_device(settings.device);
  evaluators::Evaluator evaluator(
      task, evaluators::open_device(device, options, options.run_timeout), options);
  Tally tally;
  const auto start = Clock::now();
  race_copies(settings, evaluator, text, tally);
  print(settings, device.name, tally, std::chrono::duration<double>(Clock::now() - start).count());
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (evaluators::is_worker(argc, argv)) {
    return evaluators::run_worker(argc, argv);
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "copy_races: {}\n", failure.what());
    return 1;
  }
}
