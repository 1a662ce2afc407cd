#include "search/archive_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace winnow::search {
namespace {

using tasks::Verdict;

constexpr double kExploration = 1;
// Exemplars of a contrast differ by this factor at least.
constexpr double kSlowerBand = 1.3;
constexpr int kRepairsOfOne = 2;
constexpr std::size_t kCallsPerRepair = 5; // repairs are at most this part of all calls
constexpr std::size_t kNewest = 8;
constexpr std::ptrdiff_t kFailures = 6; // that a prompt tells of
constexpr std::size_t kFamilies = 8;    // that a prompt tells of
constexpr double kWorthwhileGain = 0.02;
// A call counts as a visit of so many ancestors, and related kernels are looked for so far back.
constexpr std::size_t kGenerations = 8;
constexpr CandidateId kNoLimit = std::numeric_limits<CandidateId>::max();

// Before this many calls have ended, their prices and gains say little.
constexpr int kCallsBeforePricesCount = 4;

std::string arm_name(const std::string& op, const std::string& model) {
  return model.empty() ? op : op + "@" + model;
}

bool contains(const std::vector<CandidateId>& line, CandidateId candidate) {
  return std::find(line.begin(), line.end(), candidate) != line.end();
}

} // namespace

ArchiveSearch::ArchiveSearch(Settings settings)
    : Population(std::move(settings)),
      // Shares of the calls that published systems found useful.
      arms_({{"diff", 0.45}, {"rewrite", 0.25}, {"crossover", 0.15}, {"contrast", 0.15}}),
      models_({}) {}

std::optional<Action> ArchiveSearch::decide(const Capacity& capacity) const {
  if (std::optional<Evaluate> evaluate = next_evaluation()) {
    if (leader() != nullptr && evaluate->candidate != leader()->id && !evaluate->is_heat()) {
      evaluate->incumbent = leader()->id;
    }
    return *evaluate;
  }
  if (capacity.asks <= 0 || !may_build() || asks() >= settings().proposals || !why_done().empty()) {
    return std::nullopt;
  }
  if (is_seeding()) {
    return seed();
  }
  if (is_waiting_for_a_first_kernel()) {
    return std::nullopt;
  }
  if (std::optional<Ask> ask = repair()) {
    return *std::move(ask);
  }
  const Individual* parent = best_parent();
  if (parent == nullptr) {
    return seed();
  }
  // Soon an evaluation may give a parent that no call builds on. A call takes longer than that.
  const bool waits = unjudged_ > 0 && is_related(*parent, relatives_of_calls());
  return waits ? std::nullopt : std::optional<Action>(with_operator(*parent));
}

/// The kernels that come before all calls are judged.
bool ArchiveSearch::may_build() const {
  return may_ask() && (given() == nullptr || outcome_of(*given()).verdict != Verdict::NotJudged);
}

/// The next call is one of the seeds that the search begins with.
bool ArchiveSearch::is_seeding() const {
  return !has_first_kernel() && asks() < settings().seeds;
}

/// Seeds are under way and none has a result that counts. A call that builds on the baseline now
/// would be one more seed, without the advice to be different.
bool ArchiveSearch::is_waiting_for_a_first_kernel() const {
  return !has_first_kernel() && by_value_.empty() &&
         (unjudged_ > 0 || asked().size() > unanswered_.size());
}

/// The kernel that every lineage begins with: the user's if it is good, otherwise the baseline.
/// nullptr: there is none.
const Individual* ArchiveSearch::root() const {
  return given() != nullptr && counts(outcome_of(*given())) ? given() : correct_baseline();
}

/// The user has given a kernel to build on. If it is bad, the baseline stands in for it.
bool ArchiveSearch::has_first_kernel() const {
  return given() != nullptr && (settings().has_baseline || root() != nullptr);
}

/// The best value of the kernel and its children.
double ArchiveSearch::quality(const Individual& individual) const {
  const auto node = nodes_.find(individual.id);
  const double own = value(individual);
  return node != nodes_.end() && node->second.has_child ? std::max(own, node->second.best_child)
                                                        : own;
}

Ask ArchiveSearch::new_ask(std::string op) const {
  Ask ask;
  ask.key = settings().task + "/0/" + std::to_string(asks());
  ask.op = std::move(op);
  const std::size_t first = attempts_.size() > kNewest ? attempts_.size() - kNewest : 0;
  ask.older = static_cast<int>(first);
  for (std::size_t i = first; i < attempts_.size(); ++i) {
    ask.history.push_back(card_of(*find(attempts_[i])));
  }
  for (const CandidateId failed : failures_) {
    ask.failures.push_back(card_of(*find(failed)));
  }
  if (leader() != nullptr) {
    ask.best = card_of(*leader());
  }
  return ask;
}

Ask ArchiveSearch::seed() const {
  Ask ask = new_ask("seed");
  ask.model = model_in_turn(asks());
  if (const Individual* first = root()) {
    ask.parents = {first->id};
  }
  for (const Individual* owner : owners_by_value()) {
    if (owner->ask && ask.families.size() < kFamilies) {
      ask.families.push_back(card_of(*owner));
    }
  }
  return ask;
}

/// A call that mends the newest failure that is worth it.
std::optional<Ask> ArchiveSearch::repair() const {
  if (repairable_.empty() || kCallsPerRepair * repairs_ > asks()) {
    return std::nullopt;
  }
  const Individual& failed = *find(repairable_.back());
  Ask ask = new_ask("repair");
  ask.model = settings().models.size() < 2 ? "" : models_.choose(settings().models);
  ask.parents = {failed.id};
  ask.previous = card_of(failed);
  return ask;
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

Ask ArchiveSearch::with_operator(const Individual& parent) const {
  const Individual* other = other_cell(parent);
  const Individual* slower = slower_band(parent);
  std::vector<std::string> operators{"diff", "rewrite"};
  if (other != nullptr) {
    operators.emplace_back("crossover");
  }
  if (slower != nullptr) {
    operators.emplace_back("contrast");
  }
  const std::string arm = arms_.choose(arms_of(operators));
  const std::size_t at = arm.find('@');
  Ask ask = new_ask(arm.substr(0, at));
  ask.model = at == std::string::npos ? "" : arm.substr(at + 1);
  ask.parents = {parent.id};
  ask.previous = card_of(parent);
  if (ask.op == "crossover") {
    ask.parents.push_back(other->id);
    ask.second = card_of(*other);
  } else if (ask.op == "contrast") {
    ask.second = card_of(*slower);
  }
  return ask;
}

/// Each operator with each model.
std::vector<std::string> ArchiveSearch::arms_of(const std::vector<std::string>& operators) const {
  std::vector<std::string> arms;
  for (const std::string& op : operators) {
    for (std::size_t i = 0; i < std::max<std::size_t>(settings().models.size(), 1); ++i) {
      arms.push_back(arm_name(op, model_in_turn(i)));
    }
  }
  return arms;
}

const Individual* ArchiveSearch::best_parent() const {
  const Relatives relatives = relatives_of_calls();
  const Individual* best = nullptr;
  const Individual* best_unrelated = nullptr;
  for (const Individual* own : owners_by_score()) {
    if (is_bad_parent(*own)) {
      continue;
    }
    best = best == nullptr ? own : best;
    if (best_unrelated == nullptr && !is_related(*own, relatives)) {
      best_unrelated = own;
    }
  }
  return best_unrelated != nullptr ? best_unrelated : best != nullptr ? best : root();
}

/// The owners of all cells, fastest first.
std::vector<const Individual*> ArchiveSearch::owners_by_value() const {
  std::vector<const Individual*> owners;
  for (const auto& [cell, owner] : cells_) {
    owners.push_back(find(owner));
  }
  std::stable_sort(owners.begin(), owners.end(),
                   [](const auto* a, const auto* b) { return value(*a) > value(*b); });
  return owners;
}

/// The owners of all cells, by the PUCT score that the class describes, highest first.
std::vector<const Individual*> ArchiveSearch::owners_by_score() const {
  std::vector<const Individual*> owners = owners_by_value();
  if (owners.empty()) {
    return owners;
  }
  const double scale = std::max(value(*owners.front()) - value(*owners.back()), kWorthwhileGain);
  const double places = static_cast<double>(owners.size());
  const double explored = std::sqrt(1.0 + static_cast<double>(asks()));
  std::map<CandidateId, double> scores;
  for (std::size_t rank = 0; rank < owners.size(); ++rank) {
    const auto node = nodes_.find(owners[rank]->id);
    const int visits = node == nodes_.end() ? 0 : node->second.visits;
    const double prior = 2 * (places - static_cast<double>(rank)) / (places * (places + 1));
    scores[owners[rank]->id] =
        quality(*owners[rank]) + kExploration * scale * prior * explored / (1 + visits);
  }
  std::stable_sort(owners.begin(), owners.end(),
                   [&](const auto* a, const auto* b) { return scores[a->id] > scores[b->id]; });
  return owners;
}

ArchiveSearch::Relatives ArchiveSearch::relatives_of_calls() const {
  Relatives relatives;
  for (const auto& [key, call] : asked()) {
    if (call.parents.empty()) {
      continue;
    }
    relatives.parents.insert(call.parents.front());
    const std::vector<CandidateId> line = line_of(*find(call.parents.front()));
    relatives.ancestors.insert(line.begin(), line.end());
  }
  return relatives;
}

/// A call that is under way builds on the kernel, or on one of its near ancestors or descendants.
bool ArchiveSearch::is_related(const Individual& individual, const Relatives& relatives) const {
  const std::vector<CandidateId> line = line_of(individual);
  return relatives.ancestors.contains(individual.id) ||
         std::any_of(line.begin(), line.end(),
                     [&](CandidateId ancestor) { return relatives.parents.contains(ancestor); });
}

/// The idea behind the kernel was tried correctly and made its parent slower.
bool ArchiveSearch::is_failure(const Individual& judged) const {
  const Individual* parent = parent_of(judged);
  return parent != nullptr && judged.ask->op != "repair" && counts(outcome_of(*parent)) &&
         value(judged) < value(*parent) - kWorthwhileGain;
}

bool ArchiveSearch::is_bad_parent(const Individual& individual) const {
  const Individual* parent = parent_of(individual);
  return parent != nullptr && counts(outcome_of(*parent)) &&
         value(individual) < value(*parent) + std::log(kRegressedFraction);
}

/// Its first parent; nullptr: it has none.
const Individual* ArchiveSearch::parent_of(const Individual& individual) const {
  const bool has_parent = individual.ask && !individual.ask->parents.empty();
  return has_parent ? find(individual.ask->parents.front()) : nullptr;
}

/// The kernel itself first, then its first parent, and so on.
std::vector<CandidateId> ArchiveSearch::line_of(const Individual& individual) const {
  std::vector<CandidateId> line;
  const Individual* at = &individual;
  while (at != nullptr && line.size() < kGenerations) {
    line.push_back(at->id);
    at = parent_of(*at);
  }
  return line;
}

/// The best kernel of another cell that the parent does not descend from.
const Individual* ArchiveSearch::other_cell(const Individual& parent) const {
  const std::vector<CandidateId> line = line_of(parent);
  const Individual* best = nullptr;
  for (const auto& [cell, owner] : cells_) {
    const Individual& own = *find(owner);
    if (cell != outcome_of(parent).cell && !contains(line, owner) &&
        (best == nullptr || value(own) > value(*best))) {
      best = &own;
    }
  }
  return best;
}

/// The fastest kernel that is slower than the parent by kSlowerBand.
const Individual* ArchiveSearch::slower_band(const Individual& parent) const {
  const auto faster = by_value_.upper_bound({value(parent) - std::log(kSlowerBand), kNoLimit});
  return faster == by_value_.begin() ? nullptr : find(std::prev(faster)->second);
}

bool ArchiveSearch::promotes(CandidateId /*candidate*/, const Outcome& outcome) const {
  const Individual* best = leader();
  const double speedup = best != nullptr ? std::max(1.0, outcome_of(*best).speedup) : 1;
  return outcome.speedup <= speedup
             ? outcome.promoted
             : may_lead(outcome, best != nullptr ? &*best->outcome : nullptr);
}

std::string ArchiveSearch::why_done() const {
  if (leader() != nullptr && settings().enough_speed_of_light > 0 &&
      outcome_of(*leader()).speed_of_light >= settings().enough_speed_of_light) {
    return "the best kernel is near the roofline";
  }
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
  const std::vector<std::string> arms = arms_of({"diff", "rewrite", "crossover", "contrast"});
  return std::any_of(arms.begin(), arms.end(), [this](const std::string& arm) {
    return arms_.expected_doublings(arm) * settings().value_of_doubling >= arms_.price_of(arm);
  });
}

void ArchiveSearch::on_asked(const Ask& ask) {
  if (!ask.parents.empty()) {
    for (const CandidateId ancestor : line_of(*find(ask.parents.front()))) {
      ++nodes_[ancestor].visits;
    }
  }
  if (ask.op == "repair") {
    std::erase(repairable_, ask.parents.front());
    ++repairs_;
  }
  arms_.begin(arm_name(ask.op, ask.model));
  models_.begin(ask.model);
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
  const Outcome& outcome = *judged.outcome;
  if (judged.ask) {
    --unjudged_;
    const std::string& model = judged.ask->model;
    arms_.end(arm_name(judged.ask->op, model), gain, judged.dollars, outcome.device_seconds);
    models_.end(model, gain, judged.dollars, outcome.device_seconds);
    calls_since_gain_ = gain > kWorthwhileGain ? 0 : calls_since_gain_ + 1;
  }
  const auto worth = static_cast<int>(repairs_worth(outcome.verdict));
  if (judged.ask && repair_depth(judged) < std::min(worth, kRepairsOfOne)) {
    repairable_.push_back(judged.id);
  }
  if (!counts(outcome)) {
    return;
  }
  if (is_failure(judged)) {
    failures_.push_back(judged.id);
    failures_.erase(failures_.begin(),
                    failures_.end() - std::min<std::ptrdiff_t>(std::ssize(failures_), kFailures));
  }
  if (judged.ask) {
    by_value_.insert({value(judged), judged.id});
  }
  const auto [cell, is_new] = cells_.try_emplace(outcome.cell, judged.id);
  if (!is_new && value(judged) > value(*find(cell->second))) {
    cell->second = judged.id;
  }
  if (const Individual* built_on = parent_of(judged)) {
    Node& parent = nodes_[built_on->id];
    parent.best_child =
        parent.has_child ? std::max(parent.best_child, value(judged)) : value(judged);
    parent.has_child = true;
  }
}

void ArchiveSearch::on_reopened(Individual& unlucky) {
  unjudged_ += unlucky.ask ? 1 : 0;
}

void ArchiveSearch::on_unanswered(const Ask& ask) {
  unanswered_.insert(ask.key);
}

void ArchiveSearch::on_resumed() {
  unanswered_.clear();
}

} // namespace winnow::search
