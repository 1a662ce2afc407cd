#pragma once

#include "search/population.h"

#include <cstddef>
#include <span>
#include <vector>

namespace winnow::search {

/// The strategies with a LineagePolicy. Within a lineage each round of calls is
/// written after the results of the last round are known, and lineages know nothing of one another.
/// As a rule a call builds on the fastest correct attempt of its lineage, unless the latest attempt
/// failed in a way that is worth a repair. A latest attempt that is correct but much slower than
/// the best one is not shown in full: in published logs such parents led to gains half as often as
/// other parents. The policy may say otherwise. All calls of a lineage ask one model; lineages take
/// the models in turn. If the user gave kernels, lineages begin with the good ones in turn, and a
/// call builds on such a kernel until an attempt beats it. If there is neither a baseline nor such
/// a kernel, the first call of a lineage is a seed, and calls have no parent until an attempt is
/// correct or worth a repair.
class LineageSearch : public Population {
public:
  LineageSearch(Settings settings, Policy policy);

  std::optional<CandidateId> rival_of(CandidateId candidate) const override;
  bool promotes(CandidateId candidate, const Outcome& outcome) const override;

protected:
  std::optional<Action> next(const Capacity& capacity) const override;
  void on_asked(const Ask& ask) override;
  void on_added(Individual& added) override;
  void on_settled(Individual& judged, double gain) override;
  void on_reopened(Individual& unlucky) override;
  void on_granted() override;

private:
  struct Lineage {
    std::vector<Individual*> attempts; ///< in the order in which they came
    std::size_t asks = 0;              ///< calls that were decided
    std::size_t known = 0;             ///< number of the attempts that the calls of this round know
    std::size_t round_before = 0;      ///< first of these that the last round made
    int pending = 0;                   ///< results that it waits for: of calls, and of evaluations
  };
  /// What the next call of a lineage knows.
  struct Known {
    std::span<Individual* const> attempts;
    std::span<Individual* const> last_round; ///< the end of `attempts`
  };

  const LineagePolicy& rules() const { return std::get<LineagePolicy>(policy().population); }
  std::size_t steps(std::size_t lineage) const;
  bool begins_round(const Lineage& lineage) const;
  Known known_to(const Lineage& lineage) const;
  std::optional<std::size_t> next_lineage() const;
  bool is_opening() const;
  std::size_t barren_first_replies() const;
  void tell_first_replies(Ask& ask) const;
  Ask ask(std::size_t index) const;
  void tell_history(Ask& ask, std::span<Individual* const> attempts) const;
  void build_on_fastest(Ask& ask, std::span<Individual* const> attempts) const;
  void build_on_latest(Ask& ask, const Known& known, std::size_t turn) const;
  const Individual* start_of(std::size_t lineage) const;
  const Individual* leader_of(std::size_t lineage) const;
  const Individual* fastest_of(std::span<Individual* const> attempts,
                               const Individual* start = nullptr) const;
  const Individual* base_of(const Known& known, std::size_t turn) const;

  std::vector<Lineage> lineages_;
  std::size_t first_asks_ = 0; ///< calls of the opening
  std::size_t most_first_asks_ = 1;
};

} // namespace winnow::search
