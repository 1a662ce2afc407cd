#include "search/tuning.h"

#include <algorithm>
#include <stdexcept>

namespace winnow::search {
namespace {

using tasks::Verdict;

constexpr int kFirstTurns = 3;
constexpr int kLastTurns = 12;
constexpr std::size_t kKeptShare = 4; // a rung keeps one choice of so many
// Three turns are noisy, so the best of them may be luck.
constexpr std::size_t kLeastKept = 3;
// Small enough that many compilers work on a rung at once, large enough that the default's own
// turns do not take most of the time.
constexpr std::size_t kHeatSize = 8;
constexpr double kWorthwhileSpeed = 1.02;

bool was_timed(const Trial& trial) {
  return !trial.speeds.empty();
}

} // namespace

Tuning::Tuning(std::vector<tasks::ParameterChoice> choices, double most_seconds)
    : most_seconds_(most_seconds), turns_(kFirstTurns) {
  std::vector<std::size_t> all;
  for (tasks::ParameterChoice& choice : choices) {
    if (!trials_.empty()) {
      all.push_back(trials_.size());
    }
    trials_.emplace_back().choice = std::move(choice);
  }
  begin_rung(all);
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

/// Throws out_of_range for a choice that the family does not have.
std::size_t Tuning::index_of(const tasks::ParameterChoice& choice) const {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (trials_[i].choice == choice) {
      return i;
    }
  }
  throw std::out_of_range("no such choice");
}

void Tuning::begin_rung(const std::vector<std::size_t>& contestants) {
  rung_ = contestants;
  unlucky_.clear();
  for (std::size_t first = 0; first < rung_.size(); first += kHeatSize) {
    Heat& heat = waiting_.emplace_back();
    heat.turns = turns_;
    for (std::size_t i = first; i < std::min(first + kHeatSize, rung_.size()); ++i) {
      heat.choices.push_back(trials_[rung_[i]].choice);
    }
  }
}

void Tuning::end_rung() {
  std::erase_if(rung_, [this](std::size_t one) { return !was_timed(trials_[one]); });
  const bool is_spent = most_seconds_ > 0 && device_seconds_ >= most_seconds_;
  if (rung_.empty() || turns_ >= kLastTurns || is_spent) {
    return;
  }
  turns_ *= 2;
  begin_rung(best_of(rung_));
}

/// The best share of the contestants overall, and the best one at each shape.
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
  const std::size_t share = (kept.size() + kKeptShare - 1) / kKeptShare;
  kept.resize(std::min(std::max(share, kLeastKept), kept.size()));
  for (const std::size_t one : best) {
    if (std::find(kept.begin(), kept.end(), one) == kept.end()) {
      kept.push_back(one);
    }
  }
  return kept;
}

} // namespace winnow::search
