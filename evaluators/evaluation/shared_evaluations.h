#pragma once

#include "evaluators/evaluation/evaluations.h"

#include <memory>

namespace winnow::evaluators {

/// Lets several parts of a program evaluate on the same devices at the same time. Ids must differ
/// between them. The doors must be gone before this is.
class SharedEvaluations {
public:
  explicit SharedEvaluations(const EvaluationsFactory& factory);
  ~SharedEvaluations();                                 ///< stops all
  SharedEvaluations(const SharedEvaluations&) = delete; // doors refer to it
  SharedEvaluations& operator=(const SharedEvaluations&) = delete;

  /// Evaluations whose stop() drops the requests of their own door only.
  EvaluationsFactory door();

private:
  struct State;
  class Door;
  std::shared_ptr<State> state_;
};

} // namespace winnow::evaluators
