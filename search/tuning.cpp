#include "search/tuning.h"

#include "search/speed_forecast.h"

#include <algorithm>
#include <stdexcept>

namespace winnow::search {
namespace {

using tasks::Verdict;

constexpr int kFirstTurns = 3;
constexpr int kLastTurns = 12;
// What these numbers are worth: docs/measurements/search.md.
constexpr std::size_t kSpreadShare = 8; // one choice of so many is in the spread sample
constexpr std::size_t kWaveShare = 16;  // and in each wave of promising ones
constexpr std::size_t kLeastWave = 6;
constexpr std::size_t kWaves = 2;
// Three turns are noisy, so the best of them may be luck.
constexpr std::size_t kFinalists = 2;
// Small enough that many compilers work on a rung at once, large enough that the default's own
// turns do not take most of the time.
constexpr std::size_t kHeatSize = 8;
constexpr double kWorthwhileSpeed = 1.02;

bool was_timed(const Trial& trial) {
  return !trial.speeds.empty();
}

std::size_t spread_size(std::size_t choices) {
  return std::max(kHeatSize, choices / kSpreadShare);
}

std::size_t wave_size(std::size_t choices) {
  return std::max(kLeastWave, choices / kWaveShare);
}

} // namespace

Tuning::Tuning(std::vector<tasks::ParameterChoice> choices, double most_seconds)
    : most_seconds_(most_seconds), turns_(kFirstTurns) {
  for (tasks::ParameterChoice& choice : choices) {
    trials_.emplace_back().choice = std::move(choice);
  }
  begin_wave(ChoiceSpace(trials_).spread(spread_size(trials_.size())));
}

std::optional<Tuning::Heat> Tuning::next() const {
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front());
}

void Tuning::begin(const Heat& heat) {
  std::erase(waiting_, heat);
  ++in_flight_;
}

void Tuning::finish(const std::vector<Trial>& trials, double device_seconds) {
  --in_flight_;
  device_seconds_ += device_seconds;
  for (const Trial& trial : trials) {
    trials_[index_of(trial.choice)] = trial;
    if (was_timed(trial)) {
      trials_.front().speeds.assign(trial.speeds.size(), 1);
    }
  }
  if (is_over()) {
    end_rung();
  }
}

void Tuning::fail(const Heat& heat) {
  --in_flight_;
  const std::size_t first = index_of(heat.choices.front());
  if (std::find(unlucky_.begin(), unlucky_.end(), first) == unlucky_.end()) {
    unlucky_.push_back(first);
    waiting_.push_back(heat);
    return;
  }
  for (const tasks::ParameterChoice& choice : heat.choices) {
    trials_[index_of(choice)] = {choice, Verdict::Infrastructure, {}, {}};
  }
  if (is_over()) {
    end_rung();
  }
}

std::optional<tasks::ParameterChoice> Tuning::winner() const {
  const Trial* best = &trials_.front();
  for (const std::size_t one : rung_) {
    if (overall(trials_[one]) > std::max(overall(*best), kWorthwhileSpeed)) {
      best = &trials_[one];
    }
  }
  return best == &trials_.front() ? std::nullopt : std::optional(best->choice);
}

void Tuning::reject_winner(Verdict verdict) {
  const tasks::ParameterChoice rejected = winner().value();
  trials_[index_of(rejected)] = {rejected, verdict, {}, {}};
}

/// Throws out_of_range for a choice that the family does not have.
std::size_t Tuning::index_of(const tasks::ParameterChoice& choice) const {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (trials_[i].choice == choice) {
      return i;
    }
  }
  throw std::out_of_range("no such choice");
}

void Tuning::begin_heats(const std::vector<std::size_t>& contestants) {
  unlucky_.clear();
  for (std::size_t first = 0; first < contestants.size(); first += kHeatSize) {
    Heat& heat = waiting_.emplace_back();
    heat.turns = turns_;
    for (std::size_t i = first; i < std::min(first + kHeatSize, contestants.size()); ++i) {
      heat.choices.push_back(trials_[contestants[i]].choice);
    }
  }
}

void Tuning::begin_wave(std::vector<std::size_t> newcomers) {
  std::sort(newcomers.begin(), newcomers.end());
  rung_.insert(rung_.end(), newcomers.begin(), newcomers.end());
  begin_heats(newcomers);
}

void Tuning::end_rung() {
  const bool is_spent = most_seconds_ > 0 && device_seconds_ >= most_seconds_;
  if (turns_ == kFirstTurns && !is_spent) {
    if (const std::vector<std::size_t> newcomers = promising(); !newcomers.empty()) {
      begin_wave(newcomers);
      return;
    }
  }
  std::erase_if(rung_, [this](std::size_t one) { return !was_timed(trials_[one]); });
  if (rung_.empty() || turns_ >= kLastTurns || is_spent) {
    return;
  }
  turns_ = kLastTurns;
  rung_ = best_of(rung_);
  begin_heats(rung_);
}

/// The next wave: the choices that promise most of those that were not tried. Empty: it is time for
/// the last rung.
std::vector<std::size_t> Tuning::promising() const {
  const std::size_t size = wave_size(trials_.size());
  if (rung_.size() >= spread_size(trials_.size()) + kWaves * size) {
    return {};
  }
  std::vector<std::size_t> tried = rung_, untried;
  tried.push_back(0);
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (std::find(tried.begin(), tried.end(), i) == tried.end()) {
      untried.push_back(i);
    }
  }
  if (!untried.empty()) {
    const std::vector<double> speeds = forecast_speeds(ChoiceSpace(trials_), trials_, tried);
    std::stable_sort(untried.begin(), untried.end(),
                     [&](std::size_t a, std::size_t b) { return speeds[a] > speeds[b]; });
    untried.resize(std::min(size, untried.size()));
  }
  return untried;
}

/// The best of the contestants overall, and the best one at each shape.
std::vector<std::size_t> Tuning::best_of(const std::vector<std::size_t>& contestants) const {
  std::vector<std::size_t> kept = contestants;
  const auto best_first = [&](const auto& speed) {
    std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
      return speed(trials_[a]) > speed(trials_[b]);
    });
  };
  std::vector<std::size_t> best;
  const std::size_t shapes = trials_[contestants.front()].speeds.size();
  for (std::size_t shape = 0; shape < shapes; ++shape) {
    best_first([shape](const Trial& trial) { return trial.speeds[shape]; });
    best.push_back(kept.front());
  }
  best_first([](const Trial& trial) { return overall(trial); });
  kept.resize(std::min(kFinalists, kept.size()));
  for (const std::size_t one : best) {
    if (std::find(kept.begin(), kept.end(), one) == kept.end()) {
      kept.push_back(one);
    }
  }
  return kept;
}

} // namespace winnow::search
