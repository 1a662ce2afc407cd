#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace winnow::evaluators {

/// Takes the results of an Evaluations, on threads of its own.
using TakeResult = std::function<void(EvaluationResult)>;

/// Is told how many of all steps of the sittings have been made, on a thread of the Evaluations.
using HoldProgress = std::function<void(int made, int all)>;

/// Evaluates candidates and holds sittings, here or elsewhere. Results come in any order. Any
/// thread may call it.
class Evaluations {
public:
  virtual ~Evaluations() = default;
  virtual void submit(EvaluationRequest request) = 0;
  /// The result of this request comes soon: a fault, unless the request is done already. Does
  /// nothing for an unknown id.
  virtual void cancel(const std::string& id) = 0;
  /// Holds the sittings on one device, which does nothing else meanwhile, and waits for their end.
  /// After a request to stop it returns soon, and no board has a result. Call it on no thread that
  /// takes results.
  virtual SittingAnswer hold(const SittingRequest& request, const std::stop_token& stop,
                             const HoldProgress& progress) = 0;
  /// Drops all requests and ends all sittings. No result comes after this returns.
  virtual void stop() = 0;
};

using EvaluationsFactory = std::function<std::unique_ptr<Evaluations>(TakeResult)>;

} // namespace winnow::evaluators
