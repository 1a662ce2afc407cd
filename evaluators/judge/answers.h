#pragma once

#include "evaluators/device/kept_answer.h"
#include "evaluators/judge/compare.h"
#include "evaluators/worker/case_runner.h"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// What the reference computed for one output: on the device, or else on the host.
struct Answer {
  std::unique_ptr<KeptAnswer> kept;
  std::vector<std::byte> expected;  ///< without `kept`
  std::vector<std::byte> magnitude; ///< empty: the output is exact
};

/// The reference's answers by case and output. When there are too many, the cases that came first
/// are forgotten: they can be had again.
class AnswerStore {
public:
  bool contains(const std::string& key) const { return cases_.contains(key); }
  /// Takes what a run of the reference has left in the outputs of `plan`.
  void remember(const std::string& key, const tasks::ResolvedPlan& plan, CaseRunner& runner);
  const Answer& at(const std::string& key, const std::string& output) const {
    return cases_.at(key).at(output);
  }

private:
  using Case = std::map<std::string, Answer>;

  Answer take(const std::string& output, const std::string& magnitude, CaseRunner& runner);
  std::unique_ptr<KeptAnswer> keep(const std::string& output, const std::string& magnitude,
                                   CaseRunner& runner);
  void forget_oldest();

  std::map<std::string, Case> cases_;
  std::deque<std::string> order_; ///< keys of cases_, oldest first
  std::size_t host_bytes_ = 0;
};

/// Compares on the device where the answer is there; what is wrong is explained on the host.
/// `comparison` lacks its answers.
ComparisonResult compare(Comparison comparison, const Answer& answer);

} // namespace winnow::evaluators
