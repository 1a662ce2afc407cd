#pragma once

#include "search/prompt_arms.h"
#include "search/search.h"
#include "search/verifier_account.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace winnow::search {

/// Puts roles between a search and what it decides (Settings::roles):
/// - judge: a call that builds on a correct kernel waits until the judge has spoken about the
///   kernel.
/// - verifier: the first evaluation of a model's candidate waits until the verifier has read the
///   candidate. A rejected candidate is not run, except for audits (runs_anyway()).
/// - meta-prompter: every kCallsPerVariant kernel calls it writes a new version of the advice in
///   prompts. Each call uses one version, which PromptArms chooses.
/// - memory: PromptArms chooses for each call whether its prompt shows lessons of other tasks.
/// - exemplar: PromptArms chooses for each call whether its prompt shows a kernel of another task
/// of
///   the category.
///
/// The search inside believes that a waiting call or evaluation is under way, so it goes on
/// deciding. A waiting call keeps the content that it had when the judge was asked. A role's call
/// that gets no reply, or a reply of no use, holds nothing back.
class Counsel : public Search {
public:
  static constexpr std::size_t kCallsPerVariant = 8;
  static constexpr std::int64_t kMostVariants = 5; ///< calls of the meta-prompter

  /// `settings`: those of `inner`.
  Counsel(std::unique_ptr<Search> inner, Settings settings);

  std::optional<Action> decide(const Capacity& capacity) const override;
  void apply(const Event& event) override;
  bool promotes(CandidateId candidate, const Outcome& outcome) const override {
    return inner_->promotes(candidate, outcome);
  }
  const Individual* find(CandidateId candidate) const override { return inner_->find(candidate); }
  std::optional<CandidateId> rival_of(CandidateId candidate) const override {
    return inner_->rival_of(candidate);
  }
  bool refuses(const Advised& advised) const override;
  /// Of kernels. The calls of roles do not count.
  std::size_t asks() const override { return inner_->asks(); }
  std::size_t proposals() const override { return inner_->proposals(); }
  std::vector<Earnings> earnings() const override { return inner_->earnings(); }
  std::vector<Earnings> earnings_of_missions() const override {
    return inner_->earnings_of_missions();
  }
  std::string why_done() const override { return inner_->why_done(); }
  bool has_enough() const override { return inner_->has_enough(); }
  bool is_held_up() const override;
  std::vector<RoleStanding> roles() const override;

private:
  void on(const Decided& event);
  void on(const Added& event);
  void on(const Evaluated& event);
  void on(const Tried& event);
  void on(const Faulted& event);
  void on(const Unanswered& event);
  void on(const Resumed& event);
  void on(const Advised& event);
  template <typename Other> void on(const Other& event) { inner_->apply(event); }

  bool has(const std::string& role) const;
  bool is_to_judge(const Ask& ask) const;
  bool is_to_verify(const Evaluate& evaluate) const;
  bool is_time_for_a_variant() const;
  Ask role_call(const std::string& role, Ask about) const;
  Ask judge(Ask waiting) const;
  Ask verify(const Evaluate& evaluate) const;
  Ask with_prompt_arms(Ask ask) const;
  void begin_kernel_call(const Ask& ask, const Capacity& capacity);
  void begin_role_call(const std::string& role, const Ask& ask, const Capacity& capacity);
  void charge(const Advised& event, const std::string& role);
  void release(const std::string& key, const Advised* advised);
  void release_evaluation(const std::string& key, const Advised* advised);
  void settle(CandidateId candidate);
  void count_verified(const Evaluated& event);

  std::unique_ptr<Search> inner_;
  Settings settings_;
  std::map<std::string, RoleStanding> standings_; ///< by role
  std::map<std::string, std::string> open_;       ///< role of each role's call without an end
  std::map<std::string, Ask> waiting_;            ///< for the judge, by the key of its call
  std::deque<Ask> ready_;                         ///< the judge has spoken
  std::map<std::string, double> judge_dollars_;   ///< by the key of the kernel's call
  std::map<std::string, Evaluate> unverified_;    ///< by the key of the verifier's call
  std::deque<Evaluate> released_;                 ///< the verifier has spoken
  std::map<CandidateId, bool> verified_;          ///< whether the verifier rejected the candidate
  std::set<CandidateId> counted_;                 ///< verified candidates that are in account_
  std::set<std::string> idle_;     ///< calls of the verifier that began while no evaluation ran
  std::set<CandidateId> measured_; ///< their evaluations are under way
  VerifierAccount account_;
  std::vector<std::string> variants_{""}; ///< keys of the meta-prompter's calls
  std::size_t calls_at_variant_ = 0;      ///< kernel calls when the last version was asked for
  PromptArms of_variants_, of_memory_, of_exemplar_;
  std::set<CandidateId> settled_; ///< of the models' candidates
};

/// Whether a rejected candidate runs anyway: true for kAuditShare of all candidates. A function of
/// the seed and the task only, so that a resumed run draws the same.
bool runs_anyway(const Settings& settings, CandidateId candidate);

/// What a settled candidate has gained over its first parent, as a log speedup; 0 at least, and 0
/// for a candidate that does not count. A candidate without a parent gains over the baseline.
double gain_over_parent(const Search& search, const Individual& settled, int evaluator_version);

} // namespace winnow::search
