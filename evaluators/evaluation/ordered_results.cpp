#include "evaluators/evaluation/ordered_results.h"

#include <utility>

namespace winnow::evaluators {

void OrderedResults::expect(std::string id) {
  const std::lock_guard lock(mutex_);
  expected_.push_back(std::move(id));
}

void OrderedResults::put(EvaluationResult result) {
  {
    const std::lock_guard lock(mutex_);
    std::string id = result.id;
    early_.emplace(std::move(id), std::move(result));
  }
  changed_.notify_all();
}

void OrderedResults::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_all();
}

std::optional<EvaluationResult> OrderedResults::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return interrupted_ || (!expected_.empty() && early_.contains(expected_.front()));
  });
  if (interrupted_) {
    return std::nullopt;
  }
  EvaluationResult result = std::move(early_.extract(expected_.front()).mapped());
  expected_.pop_front();
  return result;
}

OneByOne::OneByOne(const EvaluationsFactory& factory)
    : evaluations_(factory([this](EvaluationResult result) { results_.put(std::move(result)); })) {}

void OneByOne::submit(EvaluationRequest request) {
  request.id = request_id(request, ++asked_);
  results_.expect(request.id);
  evaluations_->submit(std::move(request));
}

std::optional<EvaluationResult> OneByOne::evaluate(EvaluationRequest request) {
  submit(std::move(request));
  return results_.next();
}

} // namespace winnow::evaluators
