#pragma once

#include "search/arms.h"
#include "search/population.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace winnow::search {

/// The strategy `archive`: a MAP-Elites archive with PUCT over its cells.
///
/// Cells hold one promoted kernel each, the one with the highest lower bound of its speedup; what a
/// cell is comes from the compiled code and from counters (cell_of()). The first calls ask for
/// seeds that differ in structure. After that a call builds on the cell with the highest
/// Q + c P sqrt(1 + T) / (1 + visits): Q is the best value of the kernel and its children, P falls
/// with the kernel's rank, a visit is a call that builds on the kernel or a near descendant
/// (GPU Forecasters' max-reward PUCT). A cell whose ancestor or descendant is in a call that is
/// under way is passed over. A bandit chooses the operator and the model (arms.h); seeds ask the
/// models in turn. Failures that are worth it are repaired, in a share of the calls of their own,
/// by the model that earns most. No call builds on a kernel that is much slower than its parent.
/// If the task has no baseline, seeds have no parent, and all calls but repairs are seeds until a
/// kernel is correct.
class ArchiveSearch : public Population {
public:
  explicit ArchiveSearch(Settings settings);

  std::optional<Action> decide(const Capacity& capacity) const override;
  bool promotes(CandidateId candidate, const Outcome& outcome) const override;
  std::string why_done() const override;

  /// The owner of each cell.
  const std::map<std::string, CandidateId>& cells() const { return cells_; }

protected:
  void on_asked(const Ask& ask) override;
  void on_added(Individual& added) override;
  void on_settled(Individual& judged, double gain) override;
  void on_reopened(Individual& unlucky) override;
  void on_unanswered(const Ask& ask) override;
  void on_resumed() override;

private:
  struct Node {
    int visits = 0;
    double best_child = 0; ///< value of the best child that counts
    bool has_child = false;
  };

  /// Of the calls that are under way.
  struct Relatives {
    std::set<CandidateId> parents;
    std::set<CandidateId> ancestors; ///< the parents and their near ancestors
  };

  double quality(const Individual& individual) const;
  Ask new_ask(std::string op) const;
  Ask seed() const;
  std::optional<Ask> repair() const;
  int repair_depth(const Individual& individual) const;
  Ask with_operator(const Individual& parent) const;
  const Individual* best_parent() const;
  std::vector<const Individual*> owners_by_value() const;
  std::vector<const Individual*> owners_by_score() const;
  Relatives relatives_of_calls() const;
  bool is_related(const Individual& individual, const Relatives& relatives) const;
  bool is_failure(const Individual& judged) const;
  bool is_bad_parent(const Individual& individual) const;
  std::vector<CandidateId> line_of(const Individual& individual) const;
  const Individual* other_cell(const Individual& parent) const;
  const Individual* slower_band(const Individual& parent) const;
  const Individual* root() const;
  bool has_first_kernel() const;
  const Individual* parent_of(const Individual& individual) const;
  bool may_build() const;
  bool is_seeding() const;
  bool is_waiting_for_a_first_kernel() const;
  std::vector<std::string> arms_of(const std::vector<std::string>& operators) const;
  bool is_worthwhile() const;

  std::map<std::string, CandidateId> cells_;
  std::map<CandidateId, Node> nodes_;
  std::vector<CandidateId> attempts_;   ///< in the order in which they came
  std::vector<CandidateId> failures_;   ///< the newest ideas that made their parent slower
  std::vector<CandidateId> repairable_; ///< failures that a call may still repair, oldest first
  std::set<std::pair<double, CandidateId>> by_value_; ///< replies that count, slowest first
  std::set<std::string> unanswered_;                  ///< calls that get no reply in this session
  int unjudged_ = 0;                                  ///< replies without a result
  Arms arms_;   ///< by operator, or operator and model: "diff@cheap"
  Arms models_; ///< by model
  std::size_t repairs_ = 0;
  std::size_t calls_since_gain_ = 0;
};

} // namespace winnow::search
