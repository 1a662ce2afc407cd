#include "search/lineage_search.h"

#include <algorithm>

namespace winnow::search {
namespace {

using tasks::Verdict;

constexpr std::size_t kRepairsInARow = 3;
constexpr std::size_t kHistory = 20;

bool is_failure(const Individual& individual) {
  const Verdict verdict = outcome_of(individual).verdict;
  return verdict != Verdict::Correct && verdict != Verdict::Infrastructure &&
         verdict != Verdict::NotJudged;
}

/// A compile error after a bad reply is progress. So each kind of failure has its own limit on
/// repairs, and failures of all kinds together have another limit.
bool is_worth_repairing(const std::vector<Individual*>& attempts) {
  const std::size_t worth = repairs_worth(outcome_of(*attempts.back()).verdict);
  std::size_t failures = 0;
  std::size_t alike = 0;
  for (auto it = attempts.rbegin(); it != attempts.rend() && is_failure(**it); ++it) {
    alike += alike == failures && repairs_worth(outcome_of(**it).verdict) == worth ? 1 : 0;
    ++failures;
  }
  return alike > 0 && alike <= worth && failures <= kRepairsInARow;
}

} // namespace

LineageSearch::LineageSearch(Settings settings)
    : Population(std::move(settings)), lineages_(this->settings().lineages) {}

std::optional<Action> LineageSearch::decide(const Capacity& capacity) const {
  if (std::optional<Evaluate> evaluate = next_evaluation()) {
    const Lineage* lineage = lineage_of(*find(evaluate->candidate));
    const Individual* leader = lineage != nullptr ? leader_of(*lineage) : nullptr;
    if (leader != nullptr && !evaluate->is_heat()) {
      evaluate->incumbent = leader->id;
    }
    return *evaluate;
  }
  if (capacity.asks > 0 && may_ask()) {
    if (const auto lineage = next_lineage()) {
      return ask(*lineage);
    }
  }
  return std::nullopt;
}

/// nullptr: the candidate is the reply to no call.
const LineageSearch::Lineage* LineageSearch::lineage_of(const Individual& individual) const {
  return individual.ask ? &lineages_.at(individual.ask->lineage) : nullptr;
}

std::size_t LineageSearch::steps(std::size_t lineage) const {
  const std::size_t all = lineages_.size();
  return settings().proposals / all + (lineage < settings().proposals % all ? 1 : 0);
}

/// Of the lineages that may go on, the shortest.
std::optional<std::size_t> LineageSearch::next_lineage() const {
  std::optional<std::size_t> shortest;
  for (std::size_t i = 0; i < lineages_.size(); ++i) {
    const Lineage& lineage = lineages_[i];
    const bool may_ask =
        lineage.pending == 0 && !lineage.is_stuck && lineage.attempts.size() < steps(i);
    if (may_ask && (!shortest || lineage.attempts.size() < lineages_[*shortest].attempts.size())) {
      shortest = i;
    }
  }
  return shortest;
}

Ask LineageSearch::ask(std::size_t index) const {
  const Lineage& lineage = lineages_[index];
  const std::size_t step = lineage.attempts.size();
  Ask ask;
  ask.key = settings().task + "/" + std::to_string(index) + "/" + std::to_string(step);
  ask.lineage = index;
  ask.model = model_in_turn(index);
  if (const Individual* baseline = correct_baseline()) {
    ask.parents = {baseline->id};
  }
  if (step == 0) {
    ask.op = settings().has_baseline ? ask.op : "seed";
    return ask;
  }
  const std::size_t first = step > kHistory ? step - kHistory : 0;
  ask.older = static_cast<int>(first);
  for (std::size_t i = first; i < step; ++i) {
    ask.history.push_back(card_of(*lineage.attempts[i]));
  }
  const Individual* best = fastest_of(lineage);
  if (best != nullptr) {
    ask.best = card_of(*best);
    ask.parents = {best->id};
  }
  const Individual& latest = *lineage.attempts.back();
  const double best_speedup = best != nullptr ? outcome_of(*best).speedup : 0;
  if (outcome_of(latest).verdict == Verdict::Correct &&
      outcome_of(latest).speedup >= kRegressedFraction * best_speedup) {
    ask.previous = card_of(latest);
  } else if (is_worth_repairing(lineage.attempts)) {
    ask.previous = card_of(latest);
    ask.parents = {latest.id};
  }
  return ask;
}

/// The newest attempt that beat the leader before it. The first leader must beat the baseline, or
/// PyTorch eager if there is none.
const Individual* LineageSearch::leader_of(const Lineage& lineage) const {
  const Individual* leader = nullptr;
  for (const Individual* attempt : lineage.attempts) {
    const Outcome& outcome = outcome_of(*attempt);
    if (counts(outcome) && beats(outcome, leader != nullptr ? &*leader->outcome : nullptr)) {
      leader = attempt;
    }
  }
  return leader;
}

/// As leader_of(), but the first correct attempt need not beat the baseline.
const Individual* LineageSearch::fastest_of(const Lineage& lineage) const {
  const Individual* fastest = nullptr;
  for (const Individual* attempt : lineage.attempts) {
    const Outcome& outcome = outcome_of(*attempt);
    if (counts(outcome) && (fastest == nullptr || beats(outcome, &*fastest->outcome))) {
      fastest = attempt;
    }
  }
  return fastest;
}

bool LineageSearch::promotes(CandidateId candidate, const Outcome& outcome) const {
  const Lineage* lineage = lineage_of(*find(candidate));
  if (lineage == nullptr) {
    return outcome.promoted; // the baseline, or the user's kernel
  }
  double best = 1;
  for (const Individual* attempt : lineage->attempts) {
    const Outcome& other = outcome_of(*attempt);
    best = counts(other) ? std::max(best, other.speedup) : best;
  }
  if (outcome.verdict != Verdict::Correct || outcome.speedup <= best) {
    return outcome.promoted;
  }
  const Individual* leader = leader_of(*lineage);
  return may_lead(outcome, leader != nullptr ? &*leader->outcome : nullptr);
}

void LineageSearch::on_asked(const Ask& ask) {
  ++lineages_.at(ask.lineage).pending;
}

void LineageSearch::on_added(Individual& added) {
  if (added.ask) {
    Lineage& lineage = lineages_[added.ask->lineage];
    lineage.attempts.push_back(&added);
    lineage.is_stuck = false;
    added.number = static_cast<int>(lineage.attempts.size());
  }
}

void LineageSearch::on_settled(Individual& judged, double /*gain*/) {
  if (judged.ask) {
    --lineages_[judged.ask->lineage].pending;
  }
}

void LineageSearch::on_reopened(Individual& unlucky) {
  if (unlucky.ask) {
    ++lineages_[unlucky.ask->lineage].pending;
  }
}

void LineageSearch::on_unanswered(const Ask& ask) {
  lineages_[ask.lineage].is_stuck = true;
}

void LineageSearch::on_resumed() {
  for (Lineage& lineage : lineages_) {
    lineage.is_stuck = false;
  }
}

} // namespace winnow::search
