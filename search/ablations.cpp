#include "search/policy.h"

#include <algorithm>

namespace winnow::search {
namespace {

using Base = LineagePolicy::Base;
using Parents = ArchivePolicy::Parents;

/// Changes a copy of a policy, and keeps the copy unless the change changes nothing.
class Ablations {
public:
  explicit Ablations(const Policy& policy) : policy_(policy) {}

  /// `change` takes the policy.
  template <typename Change> void add(const std::string& without, Change change) {
    Policy changed = policy_;
    change(changed);
    if (!(changed == policy_)) {
      all_.push_back({without, std::move(changed)});
    }
  }
  /// `change` takes the policy's population, which is an Own.
  template <typename Own, typename Change> void of(const std::string& without, Change change) {
    add(without, [&](Policy& p) { change(std::get<Own>(p.population)); });
  }

  void add_all(const LineagePolicy& own) {
    if (own.for_each_call) { // no call knows another one
      add("tuning", [](Policy& p) { p.tuning = false; });
      return;
    }
    add_shared();
    if (own.base == Base::Fastest) {
      of<LineagePolicy>("hiding of regressions",
                        [](auto& p) { p.base = Base::FastestBesideLatest; });
    }
    if (own.base == Base::Fastest || own.base == Base::FastestBesideLatest) {
      of<LineagePolicy>("the fastest as parent", [](auto& p) { p.base = Base::Newest; });
    }
    of<LineagePolicy>("opening", [](auto& p) { p.opening = false; });
    if (own.op == "improve") { // the others tell of the best kernel in one line
      of<LineagePolicy>("the best kernel", [](auto& p) { p.tells_best = false; });
    }
    add("rounds", [](Policy& p) { p.round = 0; });
    add("history", [](Policy& p) { p.history = 0; });
    of<LineagePolicy>("carried features",
                      [](auto& p) { p.op = p.op == "features" ? "rewrite" : p.op; });
  }

  void add_all(const ArchivePolicy& own) {
    const auto of_archive = [this](const std::string& without, auto change) {
      of<ArchivePolicy>(without, change);
    };
    add_shared();
    of_archive("cells", [](auto& p) { p.pool = p.pool.value_or(0); });
    of_archive("failing elites", [](auto& p) { p.failures_own_cells = false; });
    of_archive(own.parents == Parents::Puct ? "PUCT" : "drawn parents", [](auto& p) {
      p.parents = p.parents == Parents::Bands ? p.parents : Parents::Fastest;
    });
    of_archive("parents from everywhere", [](auto& p) { p.uniform_share = 0; });
    add("rounds", [](Policy& p) {
      p.round = 0;
      std::get<ArchivePolicy>(p.population).calls_per_parent = 1;
    });
    of_archive("lineage blocking", [](auto& p) { p.lineage_blocking = false; });
    of_archive("refusal of regressed parents", [](auto& p) { p.refuses_regressed = false; });
    of_archive("seeds", [](auto& p) { p.seeds = false; });
    of_archive("bandit", [](auto& p) { p.bandit = false; });
    for (const ArchivePolicy::Operator& op : own.operators) {
      of_archive(op.name, [&](auto& p) {
        if (p.operators.size() > 1) {
          std::erase(p.operators, op);
        }
      });
    }
    of_archive("failures", [](auto& p) { p.failures = false; });
    add("history", [](Policy& p) { p.history = 0; });
    of_archive("inspirations", [](auto& p) { p.insights = 0; });
  }

  std::vector<Ablation> take() { return std::move(all_); }

private:
  void add_shared() {
    add("repair", [](Policy& p) { p.repair = false; });
    add("tuning", [](Policy& p) { p.tuning = false; });
    add("missions", [](Policy& p) { p.missions = false; });
  }

  const Policy& policy_;
  std::vector<Ablation> all_;
};

} // namespace

std::vector<Ablation> ablations(const Policy& policy) {
  Ablations all(policy);
  std::visit([&](const auto& population) { all.add_all(population); }, policy.population);
  return all.take();
}

} // namespace winnow::search
