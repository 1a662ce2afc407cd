#pragma once

#include "search/arms.h"
#include "search/policy.h"
#include "search/tuning.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace winnow::search {

/// The part of a search that all strategies share: which candidates there are, which calls and
/// evaluations are under way, and what happens when the machine fails. A strategy adds decide() and
/// keeps its own state up to date in the on_...() functions.
class Population : public Search {
public:
  Population(Settings settings, Policy policy)
      : settings_(std::move(settings)), policy_(std::move(policy)) {}
  Population(const Population&) = delete; // strategies point to individuals
  Population& operator=(const Population&) = delete;

  std::optional<Action> decide(const Capacity& capacity) const final;
  void apply(const Event& event) final;
  const Individual* find(CandidateId candidate) const final;
  std::size_t asks() const final { return asks_; }
  std::size_t proposals() const final { return settings_.proposals; }
  std::string why_done() const final;
  bool has_enough() const final { return !enough_.empty() || is_near_bound(); }
  std::vector<Earnings> earnings() const final;
  std::vector<Earnings> earnings_of_missions() const final;

protected:
  /// decide(), without the mission of a call.
  virtual std::optional<Action> next(const Capacity& capacity) const = 0;
  virtual void on_asked(const Ask& /*ask*/) {}
  virtual void on_added(Individual& /*added*/) {}
  /// It has an outcome now, and is tuned. `gain`: what its call has gained over the leader before.
  virtual void on_settled(Individual& /*judged*/, double /*gain*/) {}
  virtual void on_reopened(Individual& /*unlucky*/) {} ///< it is judged again in this session
  /// Its outcome does not count any more, and it is judged again. It has no outcome now.
  virtual void on_withdrawn(Individual& doubted) { on_reopened(doubted); }
  virtual void on_unanswered(const Ask& /*ask*/) {}
  virtual void on_resumed() {}
  virtual void on_granted() {} ///< proposals() has changed
  /// why_done(), unless the search has enough.
  virtual std::string why_stopped() const { return {}; }

  const Settings& settings() const { return settings_; }
  const Policy& policy() const { return policy_; }
  /// nullptr: the baseline is not judged, or not correct, or the task has none.
  const Individual* correct_baseline() const;
  /// The kernels that come before all calls are judged.
  bool may_build() const;
  /// Whether the user gave kernels to start from.
  bool has_given() const { return !given_.empty(); }
  /// Those of the user's kernels that are good, in the order in which they were given.
  std::vector<const Individual*> good_given() const;
  /// The kernel that a search begins with: the fastest good one of the user, otherwise the
  /// baseline. nullptr: there is none.
  const Individual* root() const;
  /// The newest kernel that beat the leader before it; nullptr: nothing beats the baseline or
  /// PyTorch eager yet.
  const Individual* leader() const { return leader_ != 0 ? find(leader_) : nullptr; }
  /// The model of Settings::models whose turn this is; empty: there is no choice.
  std::string model_in_turn(std::size_t turn) const;
  /// The calls without a reply, by key.
  const std::map<std::string, Ask>& asked() const { return asked_; }
  /// The evaluation to begin next: in full, of the candidate that has waited longest, or a heat of
  /// a tuning. nullopt: there is none to begin.
  std::optional<Evaluate> next_evaluation() const;
  /// The candidates with an outcome, in the order in which they got it.
  const std::vector<CandidateId>& settled() const { return settled_; }
  bool counts(const Outcome& outcome) const {
    return is_contender(outcome, settings_.evaluator_version);
  }

private:
  bool is_near_bound() const;
  bool may_have_mission(const Ask& ask) const;
  void give_mission(Ask& ask) const;
  std::map<std::string, int> taken_missions(const Ask& ask) const;
  double promise(const Mission& mission, const std::string& cell_of_parent) const;
  void end_mission(const Individual& judged, double gain);
  const Individual* copied_by(const Individual& judged) const;
  void remember_kernel(const Outcome& outcome, CandidateId candidate);

  void on(const Decided& event);
  void on(const Added& event);
  void begin_with(CandidateId candidate);
  void on(const Evaluated& event);
  void on(const Tried& event);
  void on(const Faulted& event);
  void on(const Unanswered& event);
  void on(const Resumed& event);
  void on(const Advised& event);
  void on(const Withdrawn& event);
  void on(const Enough& event) { enough_ = event.why; }
  void on(const Granted& event);

  /// A candidate with parameters that can be tuned.
  struct Family {
    std::vector<tasks::ParameterChoice> choices; ///< the default first
    std::optional<Tuning> tuning;                ///< nullopt: the default is not correct yet
  };
  void go_on(Individual& tuned);
  void settle(Individual& judged, Outcome outcome);
  double follow_leader(const Individual& judged);
  void find_leader_again();
  /// The sums to which the call belongs: of its operator and model, and of its mission.
  std::array<Earnings*, 2> earned_by(const Ask& ask);

  Settings settings_;
  Policy policy_;
  CandidateId baseline_ = 0;
  std::vector<CandidateId> given_; ///< kernels of the user
  CandidateId leader_ = 0;         ///< 0: there is none
  std::map<CandidateId, Individual> individuals_;
  std::map<std::string, Ask> asked_;
  /// Their next evaluation in full is not decided yet.
  std::set<CandidateId> unjudged_;
  std::map<CandidateId, Family> families_; ///< that are not settled
  /// Of the candidates whose outcome was withdrawn: what to judge again.
  std::map<CandidateId, tasks::ParameterChoice> again_;
  std::vector<CandidateId> settled_;
  std::size_t asks_ = 0;
  std::string enough_; ///< Enough::why; empty: the event has not come
  std::map<std::pair<std::string, std::string>, Earnings> earnings_; ///< by operator and model
  // Of missions:
  Arms missions_{{}}; ///< by what their calls gain
  std::map<std::string, Earnings> earnings_of_missions_;
  /// By what the prompt of a call shows (shown_by()): how many calls have each mission.
  std::map<std::string, std::map<std::string, int>> told_;
  std::set<std::string> structures_;              ///< cells of the kernels that count
  std::map<std::string, CandidateId> first_with_; ///< by digests of its kernel
};

/// A correct kernel below this share of its parent's speed has regressed: it is a bad parent.
constexpr double kRegressedFraction = 0.85;

/// The outcome of an individual, or one with the verdict NotJudged.
const Outcome& outcome_of(const Individual& individual);

/// The verdict is about the candidate, and not "correct".
bool is_failure(const Individual& individual);

/// The logarithm of the speedup that the kernel has at least.
double value(const Individual& individual);

/// How many failures of this kind in a row lead to a request for a repair; 0: none.
std::size_t repairs_worth(tasks::Verdict verdict);

Card card_of(const Individual& individual);

} // namespace winnow::search
