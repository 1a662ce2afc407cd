#include "search/lineage_search.h"

#include <algorithm>
#include <iterator>

namespace winnow::search {
namespace {

using tasks::Verdict;
using Base = LineagePolicy::Base;

constexpr std::size_t kRepairsInARow = 3;
constexpr std::size_t kBarrenFirstReplies = 2; // in a row, which end an opening
constexpr std::size_t kShareOfOpening = 3;     // of the calls, at most a third
constexpr double kLightOfAnOpening = 0.1;      // of the first reply (docs/measurements/search.md)

/// A compile error after a bad reply is progress. So each kind of failure has its own limit on
/// repairs, and failures of all kinds together have another limit.
bool is_worth_repairing(std::span<Individual* const> attempts) {
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

LineageSearch::LineageSearch(Settings settings, Policy policy)
    : Population(std::move(settings), std::move(policy)),
      lineages_(rules().for_each_call ? this->settings().proposals : this->settings().lineages) {
  if (rules().opening && lineages_.size() == 1) {
    most_first_asks_ = std::max<std::size_t>(this->settings().proposals / kShareOfOpening, 1);
  }
}

std::optional<Action> LineageSearch::next(const Capacity& capacity) const {
  if (const auto evaluate = next_evaluation()) {
    return *evaluate;
  }
  if (capacity.asks > 0 && may_build()) {
    if (const auto lineage = next_lineage()) {
      return ask(*lineage);
    }
  }
  return std::nullopt;
}

std::optional<CandidateId> LineageSearch::rival_of(CandidateId candidate) const {
  const std::optional<Ask>& call = find(candidate)->ask;
  const Individual* leader = call ? leader_of(call->lineage) : nullptr;
  return leader != nullptr ? std::optional(leader->id) : std::nullopt;
}

std::size_t LineageSearch::steps(std::size_t lineage) const {
  const std::size_t all = lineages_.size();
  return proposals() / all + (lineage < proposals() % all ? 1 : 0);
}

void LineageSearch::on_granted() {
  if (rules().for_each_call && proposals() > lineages_.size()) {
    lineages_.resize(proposals());
  }
}

/// The next call knows the results of all calls before.
bool LineageSearch::begins_round(const Lineage& lineage) const {
  return lineage.asks % std::max<std::size_t>(policy().round, 1) == 0;
}

LineageSearch::Known LineageSearch::known_to(const Lineage& lineage) const {
  const std::span<Individual* const> all = lineage.attempts;
  if (begins_round(lineage)) {
    return {all, all.subspan(lineage.known)};
  }
  const auto known = all.first(lineage.known);
  return {known, known.subspan(lineage.round_before)};
}

/// No call has built on a reply yet, and one more first reply may bring something. Where the first
/// one has gained nothing or is far from the bound, a change of it promises more.
bool LineageSearch::is_opening() const {
  const Lineage& only = lineages_.front();
  if (first_asks_ >= most_first_asks_ || only.asks != first_asks_) {
    return false;
  }
  return first_asks_ == 0 ||
         (!only.attempts.empty() && only.attempts.front()->gain > 0 &&
          outcome_of(*only.attempts.front()).speed_of_light >= kLightOfAnOpening &&
          barren_first_replies() < kBarrenFirstReplies);
}

/// Those in a row that have gained nothing over the replies before.
std::size_t LineageSearch::barren_first_replies() const {
  std::size_t barren = 0;
  for (const Individual* reply : lineages_.front().attempts) {
    const Verdict verdict = outcome_of(*reply).verdict;
    const bool is_judged = verdict != Verdict::NotJudged && verdict != Verdict::Infrastructure;
    barren = !is_judged ? barren : reply->gain > 0 ? 0 : barren + 1;
  }
  return barren;
}

/// Of the lineages that may go on, the shortest.
std::optional<std::size_t> LineageSearch::next_lineage() const {
  std::optional<std::size_t> shortest;
  for (std::size_t i = 0; i < lineages_.size(); ++i) {
    const Lineage& lineage = lineages_[i];
    const bool opens =
        is_opening() &&
        barren_first_replies() + static_cast<std::size_t>(lineage.pending) < kBarrenFirstReplies;
    const bool may_ask =
        (lineage.pending == 0 || !begins_round(lineage) || opens) && lineage.asks < steps(i);
    if (may_ask && (!shortest || lineage.asks < lineages_[*shortest].asks)) {
      shortest = i;
    }
  }
  return shortest;
}

Ask LineageSearch::ask(std::size_t index) const {
  const Lineage& lineage = lineages_[index];
  Ask ask;
  ask.key = settings().task + "/" + std::to_string(index) + "/" + std::to_string(lineage.asks);
  ask.lineage = index;
  ask.model = model_in_turn(index);
  const Individual* start = start_of(index);
  if (const Individual* first = start != nullptr ? start : root()) {
    ask.parents = {first->id};
  }
  const Known known = known_to(lineage);
  if (known.attempts.empty() || is_opening()) {
    ask.best = start != nullptr ? std::optional(card_of(*start)) : std::nullopt;
    ask.op = ask.parents.empty() ? "seed" : rules().first_op;
    return ask;
  }
  tell_history(ask, known.attempts);
  const Individual* best = fastest_of(known.attempts, start);
  if (best != nullptr) {
    ask.best = rules().tells_best ? std::optional(card_of(*best)) : std::nullopt;
    ask.parents = {best->id};
  }
  ask.op = rules().op;
  if (rules().base == Base::Fastest || rules().base == Base::FastestBesideLatest) {
    build_on_fastest(ask, known.attempts);
    tell_first_replies(ask);
  } else {
    build_on_latest(ask, known, lineage.asks % std::max<std::size_t>(policy().round, 1));
  }
  if (ask.parents.empty() && ask.op != "improve") {
    ask.op = "seed"; // the other operators need a parent
  }
  return ask;
}

void LineageSearch::tell_history(Ask& ask, std::span<Individual* const> attempts) const {
  const std::size_t told = std::min(policy().history, attempts.size());
  ask.older = told > 0 ? static_cast<int>(attempts.size() - told) : 0;
  for (const Individual* attempt : attempts.last(told)) {
    ask.history.push_back(card_of(*attempt));
  }
}

/// Adds the latest attempt if it is worth showing.
void LineageSearch::build_on_fastest(Ask& ask, std::span<Individual* const> attempts) const {
  const Individual& latest = *attempts.back();
  const Individual* best = fastest_of(attempts);
  const double best_speedup = best != nullptr ? outcome_of(*best).speedup : 0;
  const bool is_correct = outcome_of(latest).verdict == Verdict::Correct;
  const bool is_fast =
      is_correct && outcome_of(latest).speedup >= kRegressedFraction * best_speedup;
  if (is_fast ||
      (rules().base == Base::FastestBesideLatest && (is_correct || is_failure(latest)))) {
    ask.previous = card_of(latest);
  } else if (policy().repair && is_worth_repairing(attempts)) {
    ask.previous = card_of(latest);
    ask.parents = {latest.id};
    ask.op = rules().repair_op;
  }
}

/// The model sees several results at once: the other first replies, if the call builds on a reply
/// and the latest attempt is not shown.
void LineageSearch::tell_first_replies(Ask& ask) const {
  if (first_asks_ < 2 || ask.op != "improve" || ask.parents.empty()) {
    return;
  }
  const CandidateId parent = ask.parents.front();
  if (outcome_of(*find(parent)).verdict != Verdict::Correct || !find(parent)->ask) {
    return;
  }
  const std::vector<Individual*>& attempts = lineages_[ask.lineage].attempts;
  for (std::size_t i = 0; i < std::min(first_asks_, attempts.size()); ++i) {
    if (counts(outcome_of(*attempts[i])) && attempts[i]->id != parent) {
      ask.families.push_back(card_of(*attempts[i]));
    }
  }
  if (!ask.families.empty()) {
    ask.op = "insights";
    ask.previous = card_of(*find(parent));
  }
}

/// Builds on base_of(), otherwise on the fastest attempt or the first kernel. `turn`: of the call
/// in its round.
void LineageSearch::build_on_latest(Ask& ask, const Known& known, std::size_t turn) const {
  const Individual* base = base_of(known, turn);
  if (base == nullptr || (is_failure(*base) && !policy().repair)) {
    return;
  }
  ask.previous = card_of(*base);
  ask.parents = {base->id};
  ask.op = is_failure(*base) ? rules().repair_op : rules().op;
}

/// The calls of a round without a correct attempt build on its failures in turn, the newest one
/// first, because a repair has no mission. nullptr: the machine has failed, or no attempt of the
/// last round has a verdict.
const Individual* LineageSearch::base_of(const Known& known, std::size_t turn) const {
  if (rules().base == Base::Newest) {
    const Individual& latest = *known.attempts.back();
    const bool has_verdict = is_failure(latest) || outcome_of(latest).verdict == Verdict::Correct;
    return has_verdict ? &latest : nullptr;
  }
  if (const Individual* fastest = fastest_of(known.last_round)) {
    return fastest;
  }
  std::vector<const Individual*> failures;
  std::copy_if(known.last_round.rbegin(), known.last_round.rend(), std::back_inserter(failures),
               [](const Individual* one) { return is_failure(*one); });
  return failures.empty() ? nullptr : failures[turn % failures.size()];
}

/// The good kernel of the user that the lineage begins with; nullptr: there is none.
const Individual* LineageSearch::start_of(std::size_t lineage) const {
  const std::vector<const Individual*> good = good_given();
  return good.empty() ? nullptr : good[lineage % good.size()];
}

/// The newest attempt that beat the leader before it. The first leader must beat the kernel that
/// the lineage began with: the user's, the baseline, or PyTorch eager if there is none.
const Individual* LineageSearch::leader_of(std::size_t lineage) const {
  const Individual* leader = start_of(lineage);
  if (leader != nullptr && !beats(*leader->outcome, nullptr)) {
    leader = nullptr;
  }
  for (const Individual* attempt : lineages_[lineage].attempts) {
    const Outcome& outcome = outcome_of(*attempt);
    if (counts(outcome) && beats(outcome, leader != nullptr ? &*leader->outcome : nullptr)) {
      leader = attempt;
    }
  }
  return leader;
}

/// As leader_of(), but the first correct attempt need not beat the baseline. `start`: the user's
/// kernel that it must beat; may be nullptr.
const Individual* LineageSearch::fastest_of(std::span<Individual* const> attempts,
                                            const Individual* start) const {
  const Individual* fastest = start;
  for (const Individual* attempt : attempts) {
    const Outcome& outcome = outcome_of(*attempt);
    if (counts(outcome) && (fastest == nullptr || beats(outcome, &*fastest->outcome))) {
      fastest = attempt;
    }
  }
  return fastest;
}

bool LineageSearch::promotes(CandidateId candidate, const Outcome& outcome) const {
  const std::optional<Ask>& call = find(candidate)->ask;
  if (!call) {
    return outcome.promoted; // the baseline, or the user's kernel
  }
  const Individual* start = start_of(call->lineage);
  double best = start != nullptr ? std::max(1.0, outcome_of(*start).speedup) : 1;
  for (const Individual* attempt : lineages_[call->lineage].attempts) {
    const Outcome& other = outcome_of(*attempt);
    best = counts(other) ? std::max(best, other.speedup) : best;
  }
  if (outcome.verdict != Verdict::Correct || outcome.speedup <= best) {
    return outcome.promoted;
  }
  const Individual* leader = leader_of(call->lineage);
  return may_lead(outcome, leader != nullptr ? &*leader->outcome : nullptr);
}

void LineageSearch::on_asked(const Ask& ask) {
  Lineage& lineage = lineages_.at(ask.lineage);
  first_asks_ += is_opening() && ask.history.empty() && !ask.previous ? 1 : 0;
  if (begins_round(lineage)) {
    lineage.round_before = lineage.known;
    lineage.known = lineage.attempts.size();
  }
  ++lineage.asks;
  ++lineage.pending;
}

void LineageSearch::on_added(Individual& added) {
  if (added.ask) {
    Lineage& lineage = lineages_[added.ask->lineage];
    lineage.attempts.push_back(&added);
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

} // namespace winnow::search
