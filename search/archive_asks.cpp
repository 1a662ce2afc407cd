// What a call of an archive search is: its operator, its model, and the kernels that its prompt
// shows.
#include "search/archive_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace winnow::search {
namespace {

constexpr std::size_t kFamilies = 8; // that a prompt tells of
constexpr CandidateId kNoLimit = std::numeric_limits<CandidateId>::max();

bool contains(const std::vector<CandidateId>& line, CandidateId candidate) {
  return std::find(line.begin(), line.end(), candidate) != line.end();
}

} // namespace

Ask ArchiveSearch::new_ask(std::string op) const {
  Ask ask;
  ask.key = settings().task + "/0/" + std::to_string(asks());
  ask.op = std::move(op);
  const std::size_t told = std::min(policy().history, attempts_.size());
  ask.older = told > 0 ? static_cast<int>(attempts_.size() - told) : 0;
  for (std::size_t i = attempts_.size() - told; i < attempts_.size(); ++i) {
    ask.history.push_back(card_of(*find(attempts_[i])));
  }
  if (rules().failures) {
    for (const CandidateId failed : failures_) {
      ask.failures.push_back(card_of(*find(failed)));
    }
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
  for (const ParentOption& owner : options()) {
    const bool is_kernel = owner.kernel->ask && counts(outcome_of(*owner.kernel));
    if (is_kernel && ask.families.size() < kFamilies) {
      ask.families.push_back(card_of(*owner.kernel));
    }
  }
  return ask;
}

/// A call that mends the newest failure that is worth it.
std::optional<Ask> ArchiveSearch::repair() const {
  if (!policy().repair || repairable_.empty() ||
      static_cast<double>(repairs_) > rules().repair_share * static_cast<double>(asks())) {
    return std::nullopt;
  }
  const Individual& failed = *find(repairable_.back());
  Ask ask = new_ask("repair");
  ask.model = settings().models.size() < 2 ? ""
              : rules().bandit             ? models_.choose(settings().models)
                                           : model_in_turn(asks());
  ask.parents = {failed.id};
  ask.previous = card_of(failed);
  return ask;
}

Ask ArchiveSearch::contrast(const Contrast& exemplars) const {
  Ask ask = new_ask("contrast");
  ask.model = model_in_turn(asks());
  ask.parents = {exemplars.first->id};
  ask.previous = card_of(*exemplars.first);
  ask.second = card_of(*exemplars.second);
  return ask;
}

Ask ArchiveSearch::with_operator(const Individual& parent,
                                 const std::vector<const Individual*>& preferred,
                                 Draws& draws) const {
  const Individual* other = rules().parents == ArchivePolicy::Parents::Rank
                                ? other_parent(parent, preferred)
                                : other_cell(parent);
  const Individual* slower = slower_band(parent);
  std::vector<std::string> operators;
  for (const ArchivePolicy::Operator& op : rules().operators) {
    const bool lacks_other = op.name == "crossover" && other == nullptr;
    const bool lacks_slower = op.name == "contrast" && slower == nullptr;
    if (!lacks_other && !lacks_slower) {
      operators.push_back(op.name);
    }
  }
  if (is_failure(parent)) {
    operators = {"repair"};
  } else if (operators.empty()) {
    operators = {"rewrite"};
  }
  const std::string arm = arm_for(operators);
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
  } else if (ask.op == "insights") {
    ask.families = insights(parent, draws);
  }
  return ask;
}

/// By their earnings, or by weight: the operator that is furthest behind its share.
std::string ArchiveSearch::arm_for(const std::vector<std::string>& operators) const {
  if (rules().bandit) {
    return arms_.choose(arms_of(operators));
  }
  const auto quotient = [&](const std::string& op) {
    const auto begun = begun_.find(op);
    const auto own =
        std::find_if(rules().operators.begin(), rules().operators.end(),
                     [&](const ArchivePolicy::Operator& one) { return one.name == op; });
    const double weight = own == rules().operators.end() ? 1 : own->weight;
    return weight / (1 + (begun == begun_.end() ? 0 : begun->second));
  };
  const auto next = std::max_element(
      operators.begin(), operators.end(),
      [&](const std::string& a, const std::string& b) { return quotient(a) < quotient(b); });
  return arm_name(*next, model_in_turn(asks()));
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

/// The best kernel of another cell that the parent does not descend from.
const Individual* ArchiveSearch::other_cell(const Individual& parent) const {
  const std::vector<CandidateId> line = line_of(parent);
  const std::string cell_of_parent = cell_name(parent);
  const Individual* best = nullptr;
  for (const auto& [cell, owner] : cells_) {
    const Individual& own = *find(owner);
    if (cell != cell_of_parent && !contains(line, owner) && !is_failure(own) &&
        (best == nullptr || value(own) > value(*best))) {
      best = &own;
    }
  }
  return best;
}

/// The next one that the rule prefers.
const Individual*
ArchiveSearch::other_parent(const Individual& parent,
                            const std::vector<const Individual*>& preferred) const {
  const auto other = std::find_if(preferred.begin(), preferred.end(), [&](const Individual* own) {
    return own->id != parent.id && !is_failure(*own);
  });
  return other == preferred.end() ? nullptr : *other;
}

/// The fastest kernel that is slower than the parent by kSlowerBand.
const Individual* ArchiveSearch::slower_band(const Individual& parent) const {
  const auto faster = by_value_.upper_bound({value(parent) - std::log(kSlowerBand), kNoLimit});
  return faster == by_value_.begin() ? nullptr : find(std::prev(faster)->second);
}

/// Other kernels of the archive, drawn at random, whose ideas the prompt tells.
std::vector<Card> ArchiveSearch::insights(const Individual& parent, Draws& draws) const {
  std::vector<Card> others;
  for (const auto& [cell, owner] : cells_) {
    const Individual& own = *find(owner);
    if (own.ask && owner != parent.id && counts(outcome_of(own))) {
      others.push_back(card_of(own));
    }
  }
  std::vector<Card> drawn;
  while (drawn.size() < rules().insights && !others.empty()) {
    const auto at = others.begin() + static_cast<std::ptrdiff_t>(draws.index(others.size()));
    drawn.push_back(*at);
    others.erase(at);
  }
  return drawn;
}

} // namespace winnow::search
