#pragma once

#include "search/arms.h"
#include "search/parent_choice.h"
#include "search/population.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace winnow::search {

/// The strategies with an ArchivePolicy. What follows is the strategy `archive`; other
/// policies switch parts of it off or choose in another way.
///
/// A MAP-Elites archive with PUCT over its cells. Cells hold one promoted kernel each, the one with
/// the highest lower bound of its speedup; what a cell is comes from the compiled code and from
/// counters (cell_of()). The first calls ask for seeds that differ in structure. After that a call
/// builds on the cell with the highest PUCT score (parent_choice.h). A visit is a call that builds
/// on the kernel or a near descendant. A cell whose ancestor or descendant is in a call that is
/// under way is passed over. A bandit chooses the operator and the model (arms.h); seeds ask the
/// models in turn. Failures that are worth it are repaired, in a share of the calls of their own,
/// by the model that earns most. No call builds on a kernel that is much slower than its parent.
/// While more replies wait for their verdicts than calls may be under way, no further call begins.
/// If the task has no baseline, seeds have no parent, and all calls but repairs are seeds until a
/// kernel is correct.
///
/// With Policy::round, results are kept from the archive until all calls of the round have theirs.
class ArchiveSearch : public Population {
public:
  explicit ArchiveSearch(Settings settings, Policy policy = preset("archive").policy);

  bool promotes(CandidateId candidate, const Outcome& outcome) const override;
  std::optional<CandidateId> rival_of(CandidateId candidate) const override;

  /// The owner of each cell. In a pool each kernel has a cell.
  const std::map<std::string, CandidateId>& cells() const { return cells_; }

protected:
  std::optional<Action> next(const Capacity& capacity) const override;
  void on_asked(const Ask& ask) override;
  void on_added(Individual& added) override;
  void on_settled(Individual& judged, double gain) override;
  void on_reopened(Individual& unlucky) override;
  void on_withdrawn(Individual& doubted) override;
  void on_unanswered(const Ask& ask) override;
  void on_resumed() override;
  std::string why_stopped() const override;

private:
  struct Node {
    int visits = 0;
    std::optional<double> best_child; ///< value of the best child that counts
  };

  /// Of the calls that must not have relatives.
  struct Relatives {
    std::set<CandidateId> parents;
    std::set<CandidateId> ancestors; ///< the parents and their near ancestors
  };

  const ArchivePolicy& rules() const { return std::get<ArchivePolicy>(policy().population); }

  // archive_search.cpp: whether a call begins, and what the archive is
  bool is_seeding() const;
  bool has_first_kernel() const;
  bool is_waiting_for_a_first_kernel() const;
  std::size_t under_way() const;
  /// The lots of the next decision.
  Draws lots() const { return {settings().seed, settings().task + "/" + std::to_string(asks())}; }
  bool may_begin(const Capacity& capacity) const;
  bool is_worthwhile() const;
  std::optional<Action> build(Draws& draws) const;
  bool is_setback(const Individual& judged) const;
  bool may_own_cell(const Individual& judged) const;
  int repair_depth(const Individual& individual) const;
  std::string cell_name(const Individual& individual) const;
  void admit(const Individual& judged);
  void take_cell(const Individual& judged);
  void end_round_if_over();

  // archive_parents.cpp: which kernel a call builds on
  std::vector<const Individual*> preferred_parents(Draws& draws) const;
  const Individual* free_parent(const std::vector<const Individual*>& preferred) const;
  std::vector<ParentOption> options() const;
  Relatives relatives_of_calls() const;
  bool is_related(const Individual& individual, const Relatives& relatives) const;
  bool is_bad_parent(const Individual& individual) const;
  const Individual* parent_of(const Individual& individual) const;
  std::vector<CandidateId> line_of(const Individual& individual) const;

  // archive_asks.cpp: what a call is
  Ask new_ask(std::string op) const;
  Ask seed() const;
  std::optional<Ask> repair() const;
  Ask contrast(const Contrast& exemplars) const;
  Ask with_operator(const Individual& parent, const std::vector<const Individual*>& preferred,
                    Draws& draws) const;
  std::string arm_for(const std::vector<std::string>& operators) const;
  std::vector<std::string> arms_of(const std::vector<std::string>& operators) const;
  const Individual* other_cell(const Individual& parent) const;
  const Individual* other_parent(const Individual& parent,
                                 const std::vector<const Individual*>& preferred) const;
  const Individual* slower_band(const Individual& parent) const;
  std::vector<Card> insights(const Individual& parent, Draws& draws) const;

  std::map<std::string, CandidateId> cells_;
  std::map<CandidateId, Node> nodes_;
  std::vector<CandidateId> attempts_;   ///< in the order in which they came
  std::vector<CandidateId> failures_;   ///< the newest ideas that made their parent slower
  std::vector<CandidateId> repairable_; ///< failures that a call may still repair, oldest first
  std::vector<CandidateId> everyone_;   ///< for parents from everywhere
  std::set<std::pair<double, CandidateId>> by_value_; ///< replies that count, slowest first
  std::set<std::string> unanswered_;                  ///< calls that get no reply in this session
  std::size_t unjudged_ = 0;                          ///< replies without a result
  Arms arms_;                        ///< by operator, or operator and model: "diff@cheap"
  Arms models_;                      ///< by model
  std::map<std::string, int> begun_; ///< calls by operator
  std::size_t repairs_ = 0;
  std::size_t calls_since_gain_ = 0;

  // Of the present round, if the policy has rounds:
  std::size_t round_calls_ = 0;
  std::size_t calls_of_parent_ = 0; ///< of the newest of these
  std::vector<CandidateId> round_parents_;
  std::vector<CandidateId> withheld_; ///< results
};

} // namespace winnow::search
