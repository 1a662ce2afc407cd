#include "evaluators/evaluation/trial.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/contest.h"
#include "evaluators/evaluation/evaluation_run.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace winnow::evaluators {
namespace {

using tasks::Evaluation;
using tasks::Verdict;

// An evaluation takes about 16 launches in its budget.
constexpr int kLaunchesInBudget = 16;

class Heat {
public:
  Heat(TaskOnDevice& on_device, int turns)
      : on_device_(on_device), turns_(turns), contest_(on_device, true),
        shapes_(on_device.task.shapes_of(tasks::ShapeSet::Search, on_device.host->device.kind)) {
    const BuiltKernel* incumbent = on_device.incumbent_for(shapes_);
    if (incumbent == nullptr) {
      throw Error("choices of parameters can only be timed beside an incumbent that compiles");
    }
    contest_.add(*incumbent, shapes_);
  }

  void add(const tasks::KernelFile& file, const tasks::ParameterChoice& choice) {
    EvaluationRun run(on_device_, file, choice, Depth::Trial);
    std::optional<BuiltKernel> built = run.build(results_.emplace_back());
    contestant_of_.push_back(built ? std::optional(contest_.add(std::move(*built), shapes_))
                                   : std::nullopt);
  }

  std::vector<Evaluation> run() {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<Contest::Turns> turns = contest_.take_turns([this] { return series(); });
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      results_[i].seconds += spent.count() / static_cast<double>(results_.size());
      if (!turns) {
        results_[i].verdict = Verdict::Infrastructure;
        results_[i].detail = "cancelled";
      } else if (contestant_of_[i]) {
        take(*turns, *contestant_of_[i], results_[i]);
      }
    }
    return std::move(results_);
  }

private:
  Contest::Series series() const {
    Contest::Series series;
    for (const tasks::Shape& shape : shapes_) {
      series.planned.push_back({shape, random_bits(),
                                on_device_.own_plan(contest_.contestants().front().built, shape),
                                true});
      SamplingRequest& request = series.sampling.emplace_back();
      request.all_judged = true; // each choice has a budget of its own
      request.judged = 0;
      request.min_samples = turns_;
      request.max_samples = turns_;
      request.budget = time_budget(on_device_.options, on_device_.host->device.kind) * turns_ /
                       kLaunchesInBudget;
      request.places = places_of(on_device_, shape);
    }
    return series;
  }

  void take(const Contest::Turns& turns, std::size_t number, Evaluation& result) const {
    const Contest::Contestant& contestant = contest_.contestants()[number];
    if (contestant.verdict != Verdict::Correct) {
      result.verdict = contestant.verdict;
      result.detail = contestant.detail;
      return;
    }
    const auto place = std::find(turns.running.begin(), turns.running.end(), number);
    const auto index = static_cast<std::size_t>(place - turns.running.begin());
    std::vector<double> medians;
    for (const RunCaseReport& report : turns.outcome.report.cases) {
      tasks::CaseResult& timed =
          result.cases.emplace_back(blank_case(tasks::Stage::Time, turns.planned[report.index]));
      timed.samples_ns = turns.samples(report, index);
      timed.incumbent_samples_ns = turns.samples(report, 0);
      timed.median_ns = tasks::median(timed.samples_ns);
      medians.push_back(timed.median_ns);
    }
    result.stage = tasks::Stage::Time;
    result.score_ns = tasks::geometric_mean(medians);
  }

  TaskOnDevice& on_device_;
  int turns_;
  Contest contest_;
  std::vector<tasks::Shape> shapes_;
  std::vector<Evaluation> results_;                       ///< by choice
  std::vector<std::optional<std::size_t>> contestant_of_; ///< by choice; nullopt: does not run
};

} // namespace

std::vector<Evaluation> time_choices(TaskOnDevice& on_device, const tasks::KernelFile& file,
                                     const std::vector<tasks::ParameterChoice>& choices,
                                     int turns) {
  Heat heat(on_device, turns);
  for (const tasks::ParameterChoice& choice : choices) {
    heat.add(file, choice);
  }
  return heat.run();
}

} // namespace winnow::evaluators
