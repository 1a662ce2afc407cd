#include "search/lineage_search.h"

#include "base/error.h"

#include <algorithm>
#include <stdexcept>

namespace winnow::search {
namespace {

using tasks::Verdict;

// A correct attempt below this fraction of the best speed is a bad parent.
constexpr double kRegressedFraction = 0.85;
constexpr std::size_t kRepairsInARow = 3;
// The evaluator repeats an evaluation that the machine failed. After this many faults in a row of
// one candidate the lineage goes on without a verdict; a resumed run judges the candidate again.
constexpr int kFaultsOfOne = 2;
constexpr std::size_t kHistory = 20;

/// How many failures of this kind in a row lead to a request for a repair; 0: none.
std::size_t repairs_worth(Verdict verdict) {
  switch (verdict) {
  case Verdict::BadReply:
  case Verdict::BadPlan:
  case Verdict::CompileError:
    return 2;
  case Verdict::OverLimit:
  case Verdict::LaunchError:
  case Verdict::Timeout:
  case Verdict::Crashed:
  case Verdict::OutOfBounds:
  case Verdict::ModifiedInput:
  case Verdict::UnwrittenOutput:
  case Verdict::Wrong:
  case Verdict::Unstable:
  case Verdict::LowPrecision:
  case Verdict::WrongUnseen:
  case Verdict::Refused:
    return 1;
  case Verdict::NotJudged:
  case Verdict::Implausible:
  case Verdict::Unsupported:
  case Verdict::Correct:
  case Verdict::Infrastructure:
    return 0;
  }
  return 0;
}

/// An attempt that is not judged yet counts as neither a failure nor a success.
const Outcome& outcome_of(const Individual& individual) {
  static const Outcome none;
  return individual.outcome ? *individual.outcome : none;
}

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

Card card_of(const Individual& individual) {
  return {individual.id, individual.number};
}

} // namespace

LineageSearch::LineageSearch(Settings settings)
    : settings_(std::move(settings)), lineages_(settings_.lineages) {}

std::optional<Action> LineageSearch::decide(const Capacity& capacity) const {
  if (!unjudged_.empty()) {
    Evaluate evaluate{*unjudged_.begin(), std::nullopt};
    if (const auto lineage = lineage_of_.find(evaluate.candidate); lineage != lineage_of_.end()) {
      if (const Individual* leader = leader_of(lineages_[lineage->second])) {
        evaluate.incumbent = leader->id;
      }
    }
    return evaluate;
  }
  if (capacity.asks > 0 && is_searchable()) {
    if (const auto lineage = next_lineage()) {
      return ask(*lineage);
    }
  }
  return std::nullopt;
}

bool LineageSearch::is_searchable() const {
  const Individual* baseline = baseline_ ? find(*baseline_) : nullptr;
  return baseline != nullptr && baseline->outcome && baseline->outcome->verdict == Verdict::Correct;
}

std::size_t LineageSearch::steps(std::size_t lineage) const {
  const std::size_t all = lineages_.size();
  return settings_.proposals / all + (lineage < settings_.proposals % all ? 1 : 0);
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
  ask.key = settings_.task + "/" + std::to_string(index) + "/" + std::to_string(step);
  ask.lineage = index;
  ask.parent = *baseline_;
  if (step == 0) {
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
    ask.parent = best->id;
  }
  const Individual& latest = *lineage.attempts.back();
  const double best_speedup = best != nullptr ? outcome_of(*best).speedup : 0;
  if (outcome_of(latest).verdict == Verdict::Correct &&
      outcome_of(latest).speedup >= kRegressedFraction * best_speedup) {
    ask.previous = card_of(latest);
  } else if (is_worth_repairing(lineage.attempts)) {
    ask.previous = card_of(latest);
    ask.parent = latest.id;
  }
  return ask;
}

bool LineageSearch::counts(const Outcome& outcome) const {
  return is_contender(outcome, settings_.evaluator_version);
}

/// The newest attempt that beat the leader before it. The first leader must beat the baseline.
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
  const auto found = lineage_of_.find(candidate);
  if (found == lineage_of_.end()) {
    return outcome.promoted; // the baseline
  }
  const Lineage& lineage = lineages_[found->second];
  double best = 1;
  for (const Individual* attempt : lineage.attempts) {
    const Outcome& other = outcome_of(*attempt);
    best = counts(other) ? std::max(best, other.speedup) : best;
  }
  if (outcome.verdict != Verdict::Correct || outcome.speedup <= best) {
    return outcome.promoted;
  }
  const Individual* leader = leader_of(lineage);
  return may_lead(outcome, leader != nullptr ? &*leader->outcome : nullptr);
}

const Individual* LineageSearch::find(CandidateId candidate) const {
  const auto found = individuals_.find(candidate);
  return found == individuals_.end() ? nullptr : &found->second;
}

void LineageSearch::apply(const Event& event) {
  try {
    std::visit([this](const auto& what) { on(what); }, event);
  } catch (const std::out_of_range&) {
    throw Error("the search log contradicts itself: " + entry_of(event).kind + " " +
                    entry_of(event).detail,
                "the store was changed by hand; start a new run");
  }
}

void LineageSearch::on(const Decided& event) {
  if (const auto* evaluate = std::get_if<Evaluate>(&event.action)) {
    unjudged_.erase(evaluate->candidate);
    return;
  }
  const auto& ask = std::get<Ask>(event.action);
  asked_[ask.key] = ask.lineage;
  ++lineages_.at(ask.lineage).pending;
  ++asks_;
}

void LineageSearch::on(const Added& event) {
  const bool is_baseline = event.key.empty();
  const std::size_t index = is_baseline ? 0 : asked_.at(event.key);
  Individual& added = individuals_[event.candidate];
  added.id = event.candidate;
  unjudged_.insert(event.candidate);
  if (is_baseline) {
    baseline_ = event.candidate;
    return;
  }
  asked_.erase(event.key);
  lineage_of_[event.candidate] = index;
  Lineage& lineage = lineages_[index];
  lineage.attempts.push_back(&added);
  lineage.is_stuck = false;
  added.number = static_cast<int>(lineage.attempts.size());
}

void LineageSearch::on(const Evaluated& event) {
  unjudged_.erase(event.candidate);
  Individual& judged = individuals_.at(event.candidate);
  judged.outcome = event.outcome;
  judged.faults = 0;
  settle(event.candidate, -1);
}

void LineageSearch::on(const Faulted& event) {
  Individual& failed = individuals_.at(event.candidate);
  if (++failed.faults < kFaultsOfOne) {
    unjudged_.insert(event.candidate);
    return;
  }
  failed.outcome.emplace().verdict = Verdict::Infrastructure;
  settle(event.candidate, -1);
}

void LineageSearch::on(const Unanswered& event) {
  if (const auto asked = asked_.find(event.key); asked != asked_.end()) {
    lineages_[asked->second].is_stuck = true;
  }
}

void LineageSearch::on(const Resumed&) {
  for (Lineage& lineage : lineages_) {
    lineage.is_stuck = false;
  }
  for (auto& [id, individual] : individuals_) {
    individual.faults = 0;
    if (individual.outcome && individual.outcome->verdict == Verdict::Infrastructure) {
      individual.outcome.reset();
      unjudged_.insert(id);
      settle(id, 1);
    }
  }
}

/// Notes how many results the candidate's lineage waits for.
void LineageSearch::settle(CandidateId candidate, int change) {
  if (const auto lineage = lineage_of_.find(candidate); lineage != lineage_of_.end()) {
    lineages_[lineage->second].pending += change;
  }
}

} // namespace winnow::search
