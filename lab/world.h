#pragma once

#include "base/draws.h"
#include "lab/landscape.h"
#include "search/search.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace winnow::lab {

/// A simulated task with its model and its device: answers calls and judges candidates. Each
/// candidate has a true kernel, which a search learns of only through noisy outcomes. All luck
/// follows from the seed, the number of the call and the candidate. So two searches whose n-th
/// calls are alike get like replies.
class World {
public:
  World(const Landscape& landscape, std::uint64_t seed);

  static constexpr std::size_t kNoStructure = static_cast<std::size_t>(-1); ///< of the baseline
  static constexpr int kEvaluatorVersion = 1;

  /// A kernel as it is. Speeds are logarithms of speedups at the best choice of parameters.
  struct Kernel {
    tasks::Verdict verdict = tasks::Verdict::Correct;
    std::size_t structure = kNoStructure;
    double level = 0;            ///< of a failure: the level that a repair would reveal
    double gap = 0;              ///< what the default choice lacks
    double hidden_loss = 0;      ///< at hidden shapes
    std::size_t best_choice = 0; ///< index among `choices`
    std::vector<tasks::ParameterChoice> choices = {}; ///< the default first; empty: no parameters
  };

  struct Reply {
    Kernel kernel;
    double dollars = 0;
    double seconds = 0; ///< latency
  };
  /// The reply to the n-th call of a session, n from 0. Every operator counts as a request for a
  /// kernel: the lab simulates no advisers. An answer with advice belongs beside this function.
  Reply answer(const search::Ask& ask, std::size_t number, const search::Search& search) const;
  /// The candidate is a kernel of this world from now on.
  void add(search::CandidateId candidate, Kernel kernel);
  void add_baseline(search::CandidateId candidate);

  /// What the device finds. `search` tells which kernel of the incumbent leads.
  search::Outcome evaluate(const search::Evaluate& what, const search::Search& search);
  search::Tried try_choices(const search::Evaluate& heat) const;

  const Kernel& kernel(search::CandidateId candidate) const { return kernels_.at(candidate); }
  /// The true log speedup of a judged kernel, by Outcome::kernel.
  double true_level(const std::string& kernel) const { return levels_.at(kernel); }

private:
  struct Luck;
  Kernel first_kernel(const search::Ask& ask, const LabModel& model, const Luck& luck,
                      const search::Search& search) const;
  Kernel child_of(const Kernel& parent, const search::Ask& ask, const LabModel& model,
                  const Luck& luck, const search::Search& search) const;
  double prompt_effect(const search::Ask& ask, const search::Search& search) const;
  void follow_suggestion(Luck& luck) const;
  std::size_t structure_of_seed(const search::Ask& ask, const Luck& luck) const;
  std::size_t structure_of_child(const Kernel& parent, const search::Ask& ask,
                                 const Luck& luck) const;
  void add_parameters(Kernel& kernel, Draws& draws) const;
  void time(double level, double hidden_loss, Draws& draws, search::Outcome& outcome) const;
  void race(const std::string& rival, Draws& draws, search::Outcome& outcome) const;
  const LabModel& model_of(const search::Ask& ask) const;

  const Landscape& landscape_;
  std::uint64_t seed_;
  std::vector<double> ceilings_; ///< by structure
  double highest_ = 0;           ///< of the ceilings
  /// Uniform numbers of the first kernel that the task suggests.
  struct Suggestion {
    double structure = 0, improves = 0, amount = 0, loss = 0;
  } suggestion_;
  std::map<search::CandidateId, Kernel> kernels_;
  std::map<std::string, double> levels_; ///< of judged kernels, by Outcome::kernel
  std::map<std::string, double> hidden_losses_;
};

} // namespace winnow::lab
