#include "search/policy.h"

#include <algorithm>

namespace winnow::search {
namespace {

/// Adds the policy after this change, unless the change changes nothing.
template <typename Change>
void add(std::vector<Ablation>& all, const Policy& policy, const std::string& without,
         Change change) {
  Policy changed = policy;
  change(changed);
  if (!(changed == policy)) {
    all.push_back({without, std::move(changed)});
  }
}

void add_of_lineages(std::vector<Ablation>& all, const Policy& policy) {
  if (policy.lineage_for_each_call) {
    return; // no call knows another one
  }
  if (policy.base == Policy::Base::Fastest) {
    add(all, policy, "hiding of regressions", [](Policy& p) { p.shows_regressed = true; });
    add(all, policy, "the fastest as parent", [](Policy& p) { p.base = Policy::Base::Newest; });
  }
  if (policy.op == "improve") { // the others tell of the best kernel in one line
    add(all, policy, "the best kernel", [](Policy& p) { p.tells_best = false; });
  }
  add(all, policy, "rounds", [](Policy& p) { p.round = 0; });
  add(all, policy, "history", [](Policy& p) { p.history = 0; });
  add(all, policy, "carried features",
      [](Policy& p) { p.op = p.op == "features" ? "rewrite" : p.op; });
}

void add_of_operators(std::vector<Ablation>& all, const Policy& policy) {
  if (policy.operators.size() < 2) {
    return;
  }
  for (const Policy::Operator& op : policy.operators) {
    add(all, policy, op.name, [&](Policy& p) { std::erase(p.operators, op); });
  }
}

void add_of_archive(std::vector<Ablation>& all, const Policy& policy) {
  const bool is_puct = policy.parents == Policy::Parents::Puct;
  add(all, policy, "cells", [](Policy& p) { p.cells = false; });
  add(all, policy, "failing elites", [](Policy& p) { p.failures_own_cells = false; });
  add(all, policy, is_puct ? "PUCT" : "drawn parents", [](Policy& p) {
    const bool is_contrast = p.parents == Policy::Parents::Bands;
    p.parents = is_contrast ? p.parents : Policy::Parents::Fastest;
  });
  add(all, policy, "parents from everywhere", [](Policy& p) { p.uniform_share = 0; });
  add(all, policy, "rounds", [](Policy& p) {
    p.round = 0;
    p.calls_per_parent = 1;
  });
  add(all, policy, "lineage blocking", [](Policy& p) { p.lineage_blocking = false; });
  add(all, policy, "refusal of regressed parents", [](Policy& p) { p.builds_on_regressed = true; });
  add(all, policy, "seeds", [](Policy& p) { p.seeds = false; });
  add(all, policy, "bandit", [](Policy& p) { p.bandit = false; });
  add_of_operators(all, policy);
  add(all, policy, "failures", [](Policy& p) { p.failures = false; });
  add(all, policy, "history", [](Policy& p) { p.history = 0; });
  add(all, policy, "inspirations", [](Policy& p) { p.insights = 0; });
}

} // namespace

std::vector<Ablation> ablations(const Policy& policy) {
  std::vector<Ablation> all;
  if (!policy.lineage_for_each_call) {
    add(all, policy, "repair", [](Policy& p) { p.repair = false; });
  }
  add(all, policy, "tuning", [](Policy& p) { p.tuning = false; });
  if (policy.population == Policy::Population::Lineages) {
    add_of_lineages(all, policy);
  } else {
    add_of_archive(all, policy);
  }
  return all;
}

} // namespace winnow::search
