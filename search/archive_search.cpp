#include "search/archive_search.h"

#include <algorithm>

namespace winnow::search {
namespace {

constexpr int kRepairsOfOne = 2;
constexpr std::ptrdiff_t kFailures = 6; // that a prompt tells of
// Before this many calls have ended, their prices and gains say little.
constexpr int kCallsBeforePricesCount = 4;

std::map<std::string, double> weights_of(const ArchivePolicy& policy) {
  std::map<std::string, double> weights;
  for (const ArchivePolicy::Operator& op : policy.operators) {
    weights[op.name] = op.weight;
  }
  return weights;
}

} // namespace

ArchiveSearch::ArchiveSearch(Settings settings, Policy policy)
    : Population(std::move(settings), std::move(policy)), arms_(weights_of(rules())), models_({}) {}

std::optional<Action> ArchiveSearch::next(const Capacity& capacity) const {
  if (const auto evaluate = next_evaluation()) {
    return *evaluate;
  }
  if (capacity.asks <= 0 || !may_build() || asks() >= proposals()) {
    return std::nullopt;
  }
  if (is_seeding()) {
    return seed();
  }
  if (!may_begin(capacity)) {
    return std::nullopt;
  }
  if (std::optional<Ask> ask = repair()) {
    return *std::move(ask);
  }
  Draws draws = lots();
  return build(draws);
}

std::optional<CandidateId> ArchiveSearch::rival_of(CandidateId candidate) const {
  return leader() != nullptr && leader()->id != candidate ? std::optional(leader()->id)
                                                          : std::nullopt;
}

/// The next call is one of the seeds that the search begins with.
bool ArchiveSearch::is_seeding() const {
  const std::size_t seeds = policy().round > 0 ? policy().round : settings().seeds;
  return rules().seeds && !has_first_kernel() && asks() < seeds;
}

/// The user has given kernels to build on. If all are bad, the baseline stands in for them.
bool ArchiveSearch::has_first_kernel() const {
  return has_given() && (settings().has_baseline || root() != nullptr);
}

/// Calls that may get a reply in this session.
std::size_t ArchiveSearch::under_way() const {
  return asked().size() - unanswered_.size();
}

/// Seeds are under way and none has a result that counts. A call that builds on the baseline now
/// would be one more seed, without the advice to be different.
bool ArchiveSearch::is_waiting_for_a_first_kernel() const {
  return !has_first_kernel() && by_value_.empty() && (unjudged_ > 0 || under_way() > 0);
}

/// A call that begins before earlier calls have results knows less. So the judge may be so many
/// replies behind as calls may be under way.
bool ArchiveSearch::may_begin(const Capacity& capacity) const {
  if (policy().round > 0) {
    return round_calls_ < policy().round;
  }
  const std::size_t most = static_cast<std::size_t>(capacity.asks) + under_way();
  return !is_waiting_for_a_first_kernel() && unjudged_ <= most;
}

/// A call that builds on the first free parent.
std::optional<Action> ArchiveSearch::build(Draws& draws) const {
  if (rules().parents == ArchivePolicy::Parents::Bands) {
    const Contrast exemplars = drawn_contrast(options(), draws);
    return exemplars.first != nullptr ? contrast(exemplars) : seed();
  }
  const std::vector<const Individual*> preferred = preferred_parents(draws);
  const Individual* parent = free_parent(preferred);
  if (parent == nullptr) {
    return policy().round > 0 && !preferred.empty() ? std::nullopt : std::optional<Action>(seed());
  }
  // Soon an evaluation may give a parent that no call builds on. A call takes longer than that.
  const bool waits = policy().round == 0 && rules().lineage_blocking && unjudged_ > 0 &&
                     is_related(*parent, relatives_of_calls());
  return waits ? std::nullopt : std::optional<Action>(with_operator(*parent, preferred, draws));
}

/// The idea behind the kernel was tried correctly and made its parent slower.
bool ArchiveSearch::is_setback(const Individual& judged) const {
  const Individual* parent = parent_of(judged);
  return parent != nullptr && judged.ask->op != "repair" && counts(outcome_of(*parent)) &&
         value(judged) < value(*parent) - kWorthwhileGain;
}

/// Number of repairs in a row that led to this candidate.
int ArchiveSearch::repair_depth(const Individual& individual) const {
  int depth = 0;
  for (const Individual* at = &individual; at->ask && at->ask->op == "repair";
       at = find(at->ask->parents.front())) {
    ++depth;
  }
  return depth;
}

bool ArchiveSearch::promotes(CandidateId /*candidate*/, const Outcome& outcome) const {
  const Individual* best = leader();
  const double speedup = best != nullptr ? std::max(1.0, outcome_of(*best).speedup) : 1;
  return outcome.speedup <= speedup
             ? outcome.promoted
             : may_lead(outcome, best != nullptr ? &*best->outcome : nullptr);
}

std::string ArchiveSearch::why_stopped() const {
  if (settings().patience > 0 && calls_since_gain_ >= settings().patience) {
    return "the last " + std::to_string(calls_since_gain_) + " calls gained nothing";
  }
  return is_worthwhile() ? "" : "the expected gain of the next call is worth less than its price";
}

/// Whether the gain that a call promises is worth its price, for one arm at least.
bool ArchiveSearch::is_worthwhile() const {
  if (settings().value_of_doubling <= 0 || arms_.ended() < kCallsBeforePricesCount ||
      is_seeding()) {
    return true;
  }
  std::vector<std::string> operators;
  for (const ArchivePolicy::Operator& op : rules().operators) {
    operators.push_back(op.name);
  }
  const std::vector<std::string> arms = arms_of(operators);
  return std::any_of(arms.begin(), arms.end(), [this](const std::string& arm) {
    return arms_.expected_doublings(arm) * settings().value_of_doubling >= arms_.price_of(arm);
  });
}

void ArchiveSearch::on_asked(const Ask& ask) {
  if (!ask.parents.empty()) {
    const CandidateId parent = ask.parents.front();
    for (const CandidateId ancestor : line_of(*find(parent))) {
      ++nodes_[ancestor].visits;
    }
    if (policy().round > 0) {
      const bool is_next = calls_of_parent_ >= rules().calls_per_parent || round_parents_.empty() ||
                           round_parents_.back() != parent;
      calls_of_parent_ = is_next ? 1 : calls_of_parent_ + 1;
      round_parents_.push_back(parent);
    }
  }
  if (ask.op == "repair") {
    std::erase(repairable_, ask.parents.front());
    ++repairs_;
  }
  arms_.begin(arm_name(ask.op, ask.model));
  models_.begin(ask.model);
  ++begun_[ask.op];
  ++round_calls_;
}

void ArchiveSearch::on_added(Individual& added) {
  if (added.ask) {
    attempts_.push_back(added.id);
    added.number = static_cast<int>(attempts_.size());
    unanswered_.erase(added.ask->key);
    ++unjudged_;
  }
}

void ArchiveSearch::on_settled(Individual& judged, double gain) {
  if (judged.ask) {
    --unjudged_;
  }
  if (judged.ask && judged.withdrawals == 0) { // otherwise its call has ended before
    const std::string& model = judged.ask->model;
    const double seconds = judged.outcome->device_seconds;
    const double dollars = judged.dollars + judged.role_dollars;
    arms_.end(arm_name(judged.ask->op, model), gain, dollars, seconds);
    models_.end(model, gain, dollars, seconds);
    calls_since_gain_ = gain > kWorthwhileGain ? 0 : calls_since_gain_ + 1;
  }
  if (policy().round == 0 || !judged.ask) {
    admit(judged);
    return;
  }
  std::erase(withheld_, judged.id); // it was judged again
  withheld_.push_back(judged.id);
  end_round_if_over();
}

/// All calls of the round have results, and no other call can begin. A call that gets no reply in
/// this session keeps the round open: the next session sends it again.
void ArchiveSearch::end_round_if_over() {
  if (unjudged_ > 0 || !asked().empty()) {
    return;
  }
  Draws draws = lots();
  if (round_calls_ < policy().round && (is_seeding() || build(draws))) {
    return;
  }
  for (const CandidateId id : std::exchange(withheld_, {})) {
    admit(*find(id));
  }
  round_calls_ = calls_of_parent_ = 0;
  round_parents_.clear();
}

/// From now on, later calls know the result.
void ArchiveSearch::admit(const Individual& judged) {
  const Outcome& outcome = *judged.outcome;
  const auto worth = static_cast<int>(repairs_worth(outcome.verdict));
  if (judged.ask && repair_depth(judged) < std::min(worth, kRepairsOfOne)) {
    repairable_.push_back(judged.id);
  }
  if (may_own_cell(judged)) {
    take_cell(judged);
    if (rules().uniform_share > 0) {
      everyone_.push_back(judged.id);
    }
  }
  if (!counts(outcome)) {
    return;
  }
  if (is_setback(judged)) {
    failures_.push_back(judged.id);
    failures_.erase(failures_.begin(),
                    failures_.end() - std::min<std::ptrdiff_t>(std::ssize(failures_), kFailures));
  }
  if (judged.ask) {
    by_value_.insert({value(judged), judged.id});
  }
  if (const Individual* built_on = parent_of(judged)) {
    std::optional<double>& best = nodes_[built_on->id].best_child;
    best = std::max(best.value_or(value(judged)), value(judged));
  }
}

bool ArchiveSearch::may_own_cell(const Individual& judged) const {
  return counts(*judged.outcome) ||
         (rules().failures_own_cells && judged.ask && is_failure(judged) && fitness(judged) > 0);
}

std::string ArchiveSearch::cell_name(const Individual& individual) const {
  return !rules().pool ? outcome_of(individual).cell : std::to_string(individual.id);
}

void ArchiveSearch::take_cell(const Individual& judged) {
  const auto is_better = [](const Individual& a, const Individual& b) {
    return is_failure(a) || is_failure(b) ? fitness(a) > fitness(b) : value(a) > value(b);
  };
  const auto [cell, is_new] = cells_.try_emplace(cell_name(judged), judged.id);
  if (!is_new && is_better(judged, *find(cell->second))) {
    cell->second = judged.id;
  }
  if (rules().pool.value_or(0) > 0 && cells_.size() > *rules().pool) {
    cells_.erase(std::min_element(cells_.begin(), cells_.end(), [&](const auto& a, const auto& b) {
      return is_better(*find(b.second), *find(a.second));
    }));
  }
}

void ArchiveSearch::on_reopened(Individual& unlucky) {
  unjudged_ += unlucky.ask ? 1 : 0;
}

/// Fills the archive anew with what still counts. What calls have been told stays as it was.
void ArchiveSearch::on_withdrawn(Individual& doubted) {
  on_reopened(doubted);
  std::erase(withheld_, doubted.id);
  std::vector<CandidateId> repairable = std::move(repairable_);
  std::erase(repairable, doubted.id);
  cells_.clear();
  everyone_.clear();
  failures_.clear();
  by_value_.clear();
  for (auto& [id, node] : nodes_) {
    node.best_child.reset();
  }
  for (const CandidateId id : settled()) {
    if (std::find(withheld_.begin(), withheld_.end(), id) == withheld_.end()) {
      admit(*find(id));
    }
  }
  repairable_ = std::move(repairable);
}

void ArchiveSearch::on_unanswered(const Ask& ask) {
  unanswered_.insert(ask.key);
}

void ArchiveSearch::on_resumed() {
  unanswered_.clear();
}

} // namespace winnow::search
