// Which kernel of the archive a call builds on, and how kernels are related.
#include "search/archive_search.h"

#include <algorithm>
#include <cmath>

namespace winnow::search {
namespace {

// A call counts as a visit of so many ancestors, and related kernels are looked for so far back.
constexpr std::size_t kGenerations = 8;

} // namespace

std::vector<const Individual*> ArchiveSearch::preferred_parents(Draws& draws) const {
  if (!everyone_.empty() && draws.uniform() < rules().uniform_share) {
    return {find(everyone_[draws.index(everyone_.size())])};
  }
  return by_preference(rules().parents, options(), asks(), draws);
}

/// nullptr: there is no parent; or, in a round, all of them are relatives of parents of the round.
const Individual*
ArchiveSearch::free_parent(const std::vector<const Individual*>& preferred) const {
  if (calls_of_parent_ > 0 && calls_of_parent_ < rules().calls_per_parent) {
    return find(round_parents_.back());
  }
  const Relatives relatives = relatives_of_calls();
  const Individual* best = nullptr;
  for (const Individual* own : preferred) {
    if (rules().refuses_regressed && is_bad_parent(*own)) {
      continue;
    }
    if (!rules().lineage_blocking || !is_related(*own, relatives)) {
      return own;
    }
    best = best == nullptr ? own : best;
  }
  if (best == nullptr) {
    return root();
  }
  return policy().round > 0 ? nullptr : best;
}

/// The owners of all cells, fastest first.
std::vector<ParentOption> ArchiveSearch::options() const {
  std::vector<ParentOption> owners;
  owners.reserve(cells_.size());
  for (const auto& [cell, owner] : cells_) {
    const Individual& own = *find(owner);
    const auto found = nodes_.find(owner);
    const Node node = found == nodes_.end() ? Node() : found->second;
    owners.push_back(
        {&own, std::max(node.best_child.value_or(value(own)), value(own)), node.visits});
  }
  const auto speed = [](const ParentOption& option) {
    const Individual& own = *option.kernel;
    return is_failure(own) ? fitness(own) - 1000 : value(own);
  };
  std::stable_sort(owners.begin(), owners.end(), [&](const ParentOption& a, const ParentOption& b) {
    return speed(a) > speed(b);
  });
  return owners;
}

/// Of the calls under way, or of the present round.
ArchiveSearch::Relatives ArchiveSearch::relatives_of_calls() const {
  std::vector<CandidateId> parents = round_parents_; // empty without rounds
  if (policy().round == 0) {
    for (const auto& [key, call] : asked()) {
      if (!call.parents.empty()) {
        parents.push_back(call.parents.front());
      }
    }
  }
  Relatives relatives;
  for (const CandidateId parent : parents) {
    const std::vector<CandidateId> line = line_of(*find(parent));
    relatives.parents.insert(parent);
    relatives.ancestors.insert(line.begin(), line.end());
  }
  return relatives;
}

/// One of the calls builds on the kernel, or on one of its near ancestors or descendants.
bool ArchiveSearch::is_related(const Individual& individual, const Relatives& relatives) const {
  const std::vector<CandidateId> line = line_of(individual);
  return relatives.ancestors.contains(individual.id) ||
         std::any_of(line.begin(), line.end(),
                     [&](CandidateId ancestor) { return relatives.parents.contains(ancestor); });
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

} // namespace winnow::search
