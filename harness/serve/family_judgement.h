#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "harness/tuning/tuned_family.h"
#include "search/tuning.h"
#include "store/run_store.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// Judges a kernel by one evaluation after another: the default choice of its parameters in full,
/// heats that time other choices, and the fastest choice in full, in a race against the default.
/// The decisions are those of a search (search/tuning.h). Nothing follows the first evaluation if
/// the kernel has one choice, or if its default is not correct.
class FamilyJudgement {
public:
  /// `request`: of the default. `most_variants`: choices that may be tried.
  FamilyJudgement(evaluators::EvaluationRequest request, std::size_t most_variants);

  /// The evaluation to make now, without an id. Call it once for each take().
  evaluators::EvaluationRequest next();
  /// Takes the result of next(). True: there is another evaluation to make. A fault during a heat
  /// is no fault of the judgement, because the default has its evaluation already. Throws Error for
  /// a fault of the machine in an evaluation in full.
  bool take(const evaluators::EvaluationResult& result);

  /// Writes what was evaluated, in the place of an evaluation that does not count any more. Call it
  /// when the judgement is over.
  void write(store::RunStore& store, store::RowId candidate) const;
  /// Whether the default does not compile. Call it when the judgement is over.
  bool is_refused() const;
  /// How many evaluations say whether the kernel passes hidden shapes.
  std::size_t hidden_answers() const;
  /// How many evaluations write() writes beside that of the default.
  std::size_t more_evaluations() const;

private:
  struct Heat {
    std::vector<tasks::Evaluation> trials;
    std::string request;
    int turns = 0;
  };
  bool begin_tuning();
  void take_heat(const evaluators::EvaluationResult& result);
  bool has_more();

  evaluators::EvaluationRequest request_;
  std::vector<tasks::ParameterChoice> choices_; ///< the default first
  std::optional<search::Tuning> tuning_;
  std::optional<search::Tuning::Heat> heat_; ///< that next() has begun
  std::vector<Heat> heats_;                  ///< that have ended
  tasks::Evaluation of_default_;
  std::string default_request_; ///< id
  struct Finalist {
    tasks::Evaluation evaluation; ///< in full
    std::string request;
  };
  std::vector<Finalist> finalists_; ///< the last one has won if it is correct
};

/// What FamilyJudgement::write() has written of a candidate. Choices whose heats met a fault of the
/// machine twice are missing.
TunedFamily tuned_family(const store::RunStore& store, store::RowId candidate);

} // namespace winnow::harness
