#pragma once

#include "evaluators/evaluation/evaluations.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// Returns the results in the order of expect(), whatever the order of their arrival. Any thread
/// may use it.
class OrderedResults {
public:
  /// Call it before the request with this id is submitted.
  void expect(std::string id);
  void put(EvaluationResult result);
  /// Ends all present and later waits.
  void interrupt();
  /// Waits for the next result; nullopt: interrupted.
  std::optional<EvaluationResult> next();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> expected_;
  std::map<std::string, EvaluationResult> early_; ///< by id
  bool interrupted_ = false;
};

/// Evaluates requests and waits for their results, in the order of the requests.
class OneByOne {
public:
  explicit OneByOne(const EvaluationsFactory& factory);
  /// Gives the request its id.
  void submit(EvaluationRequest request);
  /// The result of the oldest request that has given none yet. nullopt: interrupted.
  std::optional<EvaluationResult> next() { return results_.next(); }
  /// Both.
  std::optional<EvaluationResult> evaluate(EvaluationRequest request);
  Evaluations& evaluations() { return *evaluations_; }
  /// Ends a present and all later evaluations. Any thread may call this.
  void interrupt() { results_.interrupt(); }

private:
  OrderedResults results_;
  std::int64_t asked_ = 0;
  std::unique_ptr<Evaluations> evaluations_; ///< last, because its threads use results_
};

} // namespace winnow::evaluators
