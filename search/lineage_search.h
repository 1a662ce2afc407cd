#pragma once

#include "search/population.h"

#include <vector>

namespace winnow::search {

/// The strategies one-plus-one and best-of-n. Within a lineage each prompt is written after the
/// last result of the lineage is known, and lineages know nothing of one another. A proposal builds
/// on the fastest correct attempt of its lineage, unless the latest attempt failed in a way that is
/// worth a repair. A latest attempt that is correct but much slower than the best one is not shown
/// in full: in published logs such parents led to gains half as often as other parents. best-of-n
/// has a lineage for each call. All calls of a lineage ask one model; lineages take the models in
/// turn. If the task has no baseline, the first call of a lineage is a seed, and calls have no
/// parent until an attempt is correct or worth a repair.
class LineageSearch : public Population {
public:
  explicit LineageSearch(Settings settings);

  std::optional<Action> decide(const Capacity& capacity) const override;
  bool promotes(CandidateId candidate, const Outcome& outcome) const override;

protected:
  void on_asked(const Ask& ask) override;
  void on_added(Individual& added) override;
  void on_settled(Individual& judged, double gain) override;
  void on_reopened(Individual& unlucky) override;
  void on_unanswered(const Ask& ask) override;
  void on_resumed() override;

private:
  struct Lineage {
    std::vector<Individual*> attempts; ///< in the order of the calls
    int pending = 0;                   ///< results that it waits for: of calls, and of evaluations
    bool is_stuck = false;             ///< its call gets no reply in this session
  };

  const Lineage* lineage_of(const Individual& individual) const;
  std::size_t steps(std::size_t lineage) const;
  std::optional<std::size_t> next_lineage() const;
  Ask ask(std::size_t index) const;
  const Individual* leader_of(const Lineage& lineage) const;
  const Individual* fastest_of(const Lineage& lineage) const;

  std::vector<Lineage> lineages_;
};

} // namespace winnow::search
