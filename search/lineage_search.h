#pragma once

#include "search/search.h"

#include <map>
#include <set>
#include <vector>

namespace winnow::search {

/// The strategies one-plus-one and best-of-n. Within a lineage each prompt is written after the
/// last result of the lineage is known, and lineages know nothing of one another. A proposal builds
/// on the fastest correct attempt of its lineage, unless the latest attempt failed in a way that is
/// worth a repair. A latest attempt that is correct but much slower than the best one is not shown
/// in full: in published logs such parents led to gains half as often as other parents. best-of-n
/// has a lineage for each call.
class LineageSearch : public Search {
public:
  explicit LineageSearch(Settings settings);
  LineageSearch(const LineageSearch&) = delete; // lineages point into individuals_
  LineageSearch& operator=(const LineageSearch&) = delete;

  std::optional<Action> decide(const Capacity& capacity) const override;
  void apply(const Event& event) override;
  bool promotes(CandidateId candidate, const Outcome& outcome) const override;
  const Individual* find(CandidateId candidate) const override;
  std::size_t asks() const override { return asks_; }

private:
  struct Lineage {
    std::vector<Individual*> attempts; ///< in the order of the calls
    int pending = 0;                   ///< results that it waits for: of calls, and of evaluations
    bool is_stuck = false;             ///< its call gets no reply in this session
  };

  void on(const Decided& event);
  void on(const Added& event);
  void on(const Evaluated& event);
  void on(const Faulted& event);
  void on(const Unanswered& event);
  void on(const Resumed& event);

  void settle(CandidateId candidate, int change);
  bool is_searchable() const;
  std::size_t steps(std::size_t lineage) const;
  std::optional<std::size_t> next_lineage() const;
  Ask ask(std::size_t index) const;
  bool counts(const Outcome& outcome) const;
  const Individual* leader_of(const Lineage& lineage) const;
  const Individual* fastest_of(const Lineage& lineage) const;

  Settings settings_;
  std::optional<CandidateId> baseline_;
  std::map<CandidateId, Individual> individuals_;
  std::map<CandidateId, std::size_t> lineage_of_; ///< without the baseline
  std::map<std::string, std::size_t> asked_;      ///< lineage, by key of a call without a reply
  std::set<CandidateId> unjudged_;                ///< no evaluation is decided yet
  std::vector<Lineage> lineages_;
  std::size_t asks_ = 0;
};

} // namespace winnow::search
