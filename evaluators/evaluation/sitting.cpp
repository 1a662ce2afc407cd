#include "evaluators/evaluation/sitting.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/contest.h"
#include "evaluators/evaluation/eager_times.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/timing/hidden_speed.h"
#include "profiling/statistics/sitting.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Stage;
using tasks::Verdict;

// A series of a round is shorter than the series of an evaluation by this factor.
constexpr int kSeriesDivisor = 40;
constexpr int kTurns = 2;
constexpr int kMostTurns = 30;
// In rounds. A held-out speedup has no interval, so it needs fewer samples.
constexpr std::size_t kHeldOutEvery = 3;
constexpr std::chrono::milliseconds kLeastBudget{3};
// Judged launches per contestant and series. An evaluation judges several times as many.
constexpr double kJudgedInSeries = 0.2;

using Clock = std::chrono::steady_clock;

} // namespace

Sitting::Sitting(const SittingRequest::Board& board, std::shared_ptr<DeviceHost> device_host,
                 EvaluationOptions sitting_options)
    : TaskOnDevice(*board.task, std::move(device_host), std::move(sitting_options)),
      finalists_(board.finalists), baseline_spread_(board.baseline_spread),
      contestant_of_(finalists_.size()), refused_(finalists_.size()), blank_(new_evaluation()),
      contest_(*this, has_baseline()) {
  for (std::size_t i = 0; i < finalists_.size(); ++i) {
    tasks::KernelFileResult parsed =
        tasks::parse_kernel_file(finalists_[i].text, finalists_[i].file_name);
    files_.push_back(std::move(parsed.kernel_file));
    if (!files_.back()) {
      refused_[i].verdict = Verdict::BadPlan;
      refused_[i].detail = to_string(parsed.errors.front());
    }
  }
  for (const tasks::ShapeSet set : {tasks::ShapeSet::Search, tasks::ShapeSet::HeldOut}) {
    const auto of_set = task.shapes_of(set, host->device.kind);
    shapes_.insert(shapes_.end(), of_set.begin(), of_set.end());
  }
}

void Sitting::admit() {
  const auto start = Clock::now();
  add_yardstick();
  for (std::size_t i = 0; i < finalists_.size() && !cancelled; ++i) {
    if (!files_[i]) {
      continue;
    }
    refused_[i] = EvaluationRun(*this, *files_[i], finalists_[i].parameters, Depth::HeldOut).run();
    if (refused_[i].verdict == Verdict::Infrastructure && !cancelled) {
      throw Error("a finalist could not be judged on held-out shapes: " + refused_[i].detail);
    }
    if (refused_[i].verdict == Verdict::Correct) {
      add(i);
    }
  }
  prepare_reference(shapes_);
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

void Sitting::add_yardstick() {
  if (has_baseline()) {
    own_kernel(baseline_file, task, shapes_, baseline);
    contest_.add(baseline, shapes_);
    return;
  }
  for (const tasks::Shape& shape : shapes_) {
    eager_times(*this, shape);
  }
}

void Sitting::add(std::size_t finalist) {
  std::vector<Diagnostic> errors;
  BuiltKernel built = build(*files_[finalist], task, finalists_[finalist].parameters, shapes_,
                            BuildMode::Plain, errors);
  if (!errors.empty() || built.compiled.verdict != Verdict::Correct) {
    refused_[finalist].verdict = Verdict::WrongUnseen;
    refused_[finalist].detail = "does not compile for search and hidden shapes together";
    return;
  }
  contestant_of_[finalist] = contest_.add(std::move(built), shapes_);
}

Contest::Series Sitting::series() const {
  Contest::Series series;
  const Contest::Contestant& first = contest_.contestants()[contest_.present().front()];
  for (const tasks::Shape& shape : shapes_) {
    const bool hidden = tasks::is_hidden(shape.set);
    if (hidden && times_.size() % kHeldOutEvery != 0) {
      break; // search shapes come first, so only hidden shapes follow
    }
    series.planned.push_back({shape,
                              derived_seed(blank_.seed, fmt::format("round {} {} {}", times_.size(),
                                                                    shape.id, random_bits())),
                              own_plan(first.built, shape), true});
    SamplingRequest& request = series.sampling.emplace_back();
    request.all_judged = true;
    request.judged = kJudgedInSeries;
    request.min_samples = kTurns;
    request.max_samples = most_samples(task, kMostTurns);
    const int divisor = hidden ? 2 * kSeriesDivisor : kSeriesDivisor;
    request.budget = std::max(time_budget(options, host->device.kind) / divisor, kLeastBudget);
    request.places = places_of(*this, shape);
    request.areas = areas_of(*this, shape, shapes_.size());
  }
  return series;
}

void Sitting::round() {
  if (contest_.present().empty()) {
    return; // no finalist is left, and the task has no baseline
  }
  const auto start = Clock::now();
  if (const auto turns = contest_.take_turns([this] { return series(); })) {
    take(*turns);
  }
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

void Sitting::take(const Contest::Turns& turns) {
  const std::vector<std::size_t>& running = turns.running;
  std::vector<profiling::RoundTimes> of_round(shapes_.size(),
                                              profiling::RoundTimes(contest_.contestants().size()));
  for (const RunCaseReport& report : turns.outcome.report.cases) {
    for (std::size_t i = 0; i < running.size(); ++i) {
      of_round[report.index][running[i]] = turns.samples(report, i);
    }
  }
  times_.push_back(std::move(of_round));
}

std::vector<double> Sitting::samples(std::size_t shape, std::size_t contestant) const {
  std::vector<double> all;
  for (const auto& round : times_) {
    all.insert(all.end(), round[shape][contestant].begin(), round[shape][contestant].end());
  }
  return all;
}

double Sitting::median_ns(std::size_t shape, std::size_t contestant) const {
  return tasks::median(samples(shape, contestant));
}

double Sitting::baseline_median_ns(std::size_t shape) const {
  return has_baseline() ? median_ns(shape, 0) : tasks::median(eager.at(shapes_[shape].id));
}

Sitting::Places Sitting::places(tasks::ShapeSet set) const {
  Places found;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].set == set) {
      found.push_back(i);
    }
  }
  return found;
}

bool Sitting::counts_at(std::size_t place) const {
  return speed_counts(has_baseline() ? samples(place, 0) : eager.at(shapes_[place].id),
                      host->device.kind);
}

/// The speed of the first contestant that is left, which the speeds of the others are multiplied
/// by.
AgainstEager Sitting::yardstick(const Places& places) const {
  if (has_baseline()) {
    return {};
  }
  std::vector<tasks::Shape> shapes;
  std::vector<std::vector<double>> samples_ns;
  for (const std::size_t place : places) {
    shapes.push_back(shapes_[place]);
    samples_ns.push_back(samples(place, contest_.present().front()));
  }
  return against_eager(*this, shapes, samples_ns);
}

profiling::Sitting Sitting::over(const Places& places,
                                 const std::vector<std::size_t>& running) const {
  std::vector<std::vector<profiling::RoundTimes>> of_places;
  for (const std::size_t shape : places) {
    std::vector<profiling::RoundTimes>& rounds = of_places.emplace_back();
    for (const auto& round : times_) {
      if (running.empty() || round[shape][running.front()].empty()) {
        continue; // this round did not time this shape
      }
      profiling::RoundTimes& of_round = rounds.emplace_back();
      for (const std::size_t contestant : running) {
        of_round.push_back(round[shape][contestant]);
      }
    }
  }
  return profiling::Sitting(of_places);
}

void Sitting::add_times(tasks::SittingRow& row, std::size_t contestant, std::size_t index,
                        const std::vector<profiling::Sitting>& at_places) const {
  std::vector<double> medians, held_out;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const bool hidden = tasks::is_hidden(shapes_[i].set);
    const double speedup = at_places[i].ratio(index, 0) * yardstick({i}).ratio;
    row.times.push_back({shapes_[i].id, median_ns(i, contestant), baseline_median_ns(i), speedup,
                         !hidden || counts_at(i)});
    if (!hidden) {
      medians.push_back(row.times.back().median_ns);
    } else if (row.times.back().counts && speedup > 0) {
      held_out.push_back(speedup);
    }
  }
  row.score_ns = tasks::geometric_mean(medians);
  row.held_out_speedup = tasks::geometric_mean(held_out);
}

tasks::SittingRow Sitting::row_of(std::size_t finalist, const std::vector<std::size_t>& running,
                                  const profiling::Sitting& search,
                                  const std::vector<profiling::Sitting>& at_places) const {
  tasks::SittingRow row;
  row.kernel = finalists_[finalist].kernel;
  if (!contestant_of_[finalist]) {
    row.verdict = refused_[finalist].verdict;
    row.detail = refused_[finalist].detail;
    return row;
  }
  const Contest::Contestant& contestant = contest_.contestants()[*contestant_of_[finalist]];
  row.verdict = contestant.verdict;
  row.detail = contestant.detail;
  const auto place = std::find(running.begin(), running.end(), *contestant_of_[finalist]);
  if (place == running.end()) {
    return row;
  }
  const auto index = static_cast<std::size_t>(place - running.begin());
  add_times(row, *contestant_of_[finalist], index, at_places);
  const AgainstEager eager = yardstick(places(tasks::ShapeSet::Search));
  row.speedup = search.ratio(index, 0) * eager.ratio;
  const profiling::Interval bounds =
      search.repeat_interval(index, 0, index == 0 && has_baseline() ? 0 : baseline_spread_);
  row.speedup_bounds = bounds_of_product(search.ratio(index, 0), bounds, eager);
  add_races(row, finalist, running, search);
  return row;
}

void Sitting::add_races(tasks::SittingRow& row, std::size_t finalist,
                        const std::vector<std::size_t>& running,
                        const profiling::Sitting& search) const {
  const auto index_of = [&](std::size_t one) {
    return std::find(running.begin(), running.end(), contestant_of_[one].value_or(~0U)) -
           running.begin();
  };
  const auto own = static_cast<std::size_t>(index_of(finalist));
  for (std::size_t other = 0; other < finalists_.size(); ++other) {
    const auto rival = static_cast<std::size_t>(index_of(other));
    if (other == finalist || rival == running.size()) {
      continue;
    }
    const profiling::Interval bounds = search.interval(own, rival);
    row.races.push_back({finalists_[other].kernel,
                         std::string(to_string(search.verdict(own, rival))),
                         search.ratio(own, rival),
                         {bounds.low, bounds.high},
                         static_cast<int>(times_.size())});
  }
}

tasks::SittingResult Sitting::result() const {
  const std::vector<std::size_t> running = contest_.present();
  const profiling::Sitting search = over(places(tasks::ShapeSet::Search), running);
  std::vector<profiling::Sitting> at_places;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    at_places.push_back(over({i}, running));
  }
  const std::vector<std::size_t> order = search.order();
  const std::vector<int> ranks = search.ranks(order);
  tasks::SittingResult result;
  result.device = host->device.kind;
  result.device_name = host->device.name;
  result.device_uuid = host->device.uuid;
  result.driver = host->device.driver;
  result.evaluator_version = kEvaluatorVersion;
  result.seed = blank_.seed;
  result.rounds = static_cast<int>(times_.size());
  result.baseline_spread = baseline_spread_;
  result.widening = profiling::repeat_factor(baseline_spread_);
  result.started_at = blank_.started_at;
  result.seconds = seconds_;
  std::vector<tasks::SittingRow> fallen;
  for (std::size_t i = 0; i < finalists_.size(); ++i) {
    tasks::SittingRow row = row_of(i, running, search, at_places);
    const auto place = std::find_if(order.begin(), order.end(), [&](std::size_t index) {
      return contestant_of_[i] && running[index] == *contestant_of_[i];
    });
    row.rank = place == order.end() ? 0 : ranks[static_cast<std::size_t>(place - order.begin())];
    (row.rank > 0 ? result.rows : fallen).push_back(std::move(row));
  }
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const auto& a, const auto& b) { return a.speedup > b.speedup; });
  result.rows.insert(result.rows.end(), std::make_move_iterator(fallen.begin()),
                     std::make_move_iterator(fallen.end()));
  return result;
}

} // namespace winnow::evaluators
