// Times the choices of kernel families' parameters on a device, each in turns with the family's
// default, and prints one landscape a line (landscape.h). tuning_bench reads landscapes.
//   landscape_recorder [--device cuda] [--most 256] [--seconds 60] TASK FILE [TASK FILE]...
// A family with more choices than --most, or than the device times in --seconds, is recorded by a
// spread sample. $WINNOW_CATALOGUE names the catalogue where there is no source tree. Progress and
// failures go to stderr.
#include "base/error.h"
#include "base/files.h"
#include "bench/landscape.h"
#include "evaluators/evaluation/open_devices.h"
#include "evaluators/evaluation/ordered_results.h"
#include "evaluators/workers.h"
#include "search/outcome.h"
#include "tasks/catalogue.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using winnow::Error;
using winnow::bench::Landscape;
using winnow::bench::RecordedChoice;
namespace evaluators = winnow::evaluators;
namespace tasks = winnow::tasks;

constexpr std::size_t kHeatSize = Landscape::kHeatSize;
constexpr int kLongHeats = 2; // of each choice
constexpr std::size_t kFewestChoices = 8;
constexpr std::size_t kMostAllowed = 100'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
constexpr std::size_t kDigestBegin = 12;

struct Settings {
  std::size_t most = 256;
  double seconds = 60;
};

std::vector<tasks::Evaluation> evaluated(evaluators::OneByOne& evaluations) {
  auto result = evaluations.next();
  if (!result || !result->fault.empty()) {
    throw Error(result ? result->fault : "interrupted");
  }
  return std::move(result->evaluations);
}

class Recorder {
public:
  Recorder(const tasks::Task& task, const std::string& path, evaluators::OneByOne& evaluations)
      : evaluations_(evaluations) {
    request_.task = std::make_shared<const tasks::Task>(task);
    request_.text = winnow::read_file(path, kMostBytes);
    request_.file_name = path;
    const auto parsed = tasks::parse_kernel_file(request_.text, path);
    if (!parsed.kernel_file) {
      throw Error(to_string(parsed.errors.front()), "correct the kernel file");
    }
    plan_ = parsed.kernel_file->plan;
    landscape_.task = task.name;
    landscape_.file = path;
    landscape_.allowed = tasks::parameter_choices(plan_, kMostAllowed).size();
  }

  Landscape record(const Settings& settings) {
    if (landscape_.allowed < kFewestChoices) {
      throw Error(fmt::format("{}: the family has {} choices of parameters, fewer than {}",
                              request_.file_name, landscape_.allowed, kFewestChoices),
                  "add values to `params`");
    }
    prove_the_default();
    add_choices(tasks::parameter_choices(plan_, most_in_time(settings)));
    time_all(Landscape::kTurns.front());
    for (int i = 0; i < kLongHeats; ++i) {
      time_all(Landscape::kTurns.back());
    }
    return landscape_;
  }

private:
  void prove_the_default() {
    evaluators::EvaluationRequest full = request_;
    full.choices = tasks::parameter_choices(plan_, 1);
    evaluations_.submit(full);
    const tasks::Evaluation of_default = evaluated(evaluations_).front();
    if (of_default.verdict != tasks::Verdict::Correct) {
      throw Error(fmt::format("{}: the default is {}: {}", request_.file_name,
                              to_string(of_default.verdict), of_default.detail),
                  "correct the kernel file");
    }
    landscape_.device = of_default.device_name;
    for (const tasks::CaseResult& timed : of_default.cases) {
      if (timed.stage == tasks::Stage::Time) {
        landscape_.shapes.push_back(timed.shape);
      }
    }
    request_.incumbent = evaluators::KernelToBeat{request_.text, full.choices.front()};
    request_.depth = evaluators::Depth::Trial;
  }

  /// A first heat of a spread sample shows how long a choice takes.
  std::size_t most_in_time(const Settings& settings) {
    add_choices(tasks::parameter_choices(plan_, kHeatSize + 1));
    time_all(Landscape::kTurns.back());
    double seconds = 0;
    for (const RecordedChoice& choice : landscape_.choices) {
      seconds += choice.seconds.back() / kHeatSize;
    }
    landscape_.choices.clear();
    const auto in_time = static_cast<std::size_t>(settings.seconds / (kLongHeats + 1) / seconds);
    return std::clamp(in_time, kFewestChoices + 1, settings.most);
  }

  void add_choices(const std::vector<tasks::ParameterChoice>& choices) {
    for (const tasks::ParameterChoice& choice : choices) {
      landscape_.choices.emplace_back().parameters = choice;
    }
    RecordedChoice& usual = landscape_.choices.front();
    usual.ratios.assign(landscape_.shapes.size(), {1.0});
  }

  /// All choices but the default, which takes part in every heat.
  void time_all(int turns) {
    const std::size_t count = landscape_.choices.size();
    for (std::size_t first = 1; first < count; first += kHeatSize) {
      request_.choices.clear();
      for (std::size_t i = first; i < std::min(first + kHeatSize, count); ++i) {
        request_.choices.push_back(landscape_.choices[i].parameters);
      }
      request_.turns = turns;
      evaluations_.submit(request_);
    }
    for (std::size_t first = 1; first < count; first += kHeatSize) {
      std::size_t number = first;
      for (const tasks::Evaluation& trial : evaluated(evaluations_)) {
        add(landscape_.choices[number++], trial, turns);
      }
    }
    std::fprintf(stderr, "%s %s: %zu of %zu choices, %d turns\n", landscape_.task.c_str(),
                 landscape_.file.c_str(), count, landscape_.allowed, turns);
  }

  static void add(RecordedChoice& choice, const tasks::Evaluation& trial, int turns) {
    choice.verdict = trial.verdict;
    choice.machine_code = trial.build.machine_code_digest.substr(0, kDigestBegin);
    (turns == Landscape::kTurns.front() ? choice.seconds.front() : choice.seconds.back()) =
        trial.seconds;
    choice.ratios.resize(trial.cases.size());
    for (std::size_t shape = 0; shape < trial.cases.size(); ++shape) {
      const std::vector<double> more = winnow::search::ratios_to_incumbent(trial.cases[shape]);
      choice.ratios[shape].insert(choice.ratios[shape].end(), more.begin(), more.end());
    }
  }

  evaluators::OneByOne& evaluations_;
  evaluators::EvaluationRequest request_;
  tasks::Plan plan_;
  Landscape landscape_;
};

int run(int argc, char** argv) {
  CLI::App app("Times the choices of kernel families' parameters and prints landscapes.");
  Settings settings;
  evaluators::EvaluationOptions options;
  std::vector<std::string> words;
  options.counters = evaluators::Counting::Off;
  app.add_option("--device", options.device, "best, cpu, cuda, cuda:0, ...");
  app.add_option("--most", settings.most, "choices of a family")->check(CLI::Range(9, 10'000));
  app.add_option("--seconds", settings.seconds, "of the device, for a family")
      ->check(CLI::PositiveNumber);
  app.add_option("families", words, "TASK FILE, for each family")->required();
  CLI11_PARSE(app, argc, argv);
  const evaluators::OpenDevices devices(options, options.run_timeout);
  evaluators::OneByOne evaluations(devices.factory());
  int failures = static_cast<int>(words.size() % 2);
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    try {
      const tasks::Task task = tasks::find_task(tasks::find_catalogue(), words[i]);
      const nlohmann::json line = Recorder(task, words[i + 1], evaluations).record(settings);
      fmt::print("{}\n", line.dump());
      std::fflush(stdout);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s; %s\n", error.what(), error.remedy().c_str());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s; %s\n", error.what(), error.remedy().c_str());
    return 1;
  }
}
