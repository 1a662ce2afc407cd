#include "evaluators/evaluation/blank_evaluation.h"

#include "base/text.h"

#include <utility>

namespace winnow::evaluators {

using tasks::Evaluation;

Evaluation blank_evaluation(std::string_view device, std::string_view device_name,
                            std::string_view isolation) {
  Evaluation blank;
  blank.device = device;
  blank.device_name = device_name;
  blank.isolation = isolation;
  blank.evaluator_version = kEvaluatorVersion;
  blank.started_at = utc_now();
  return blank;
}

Evaluation machine_fault(std::string_view device, std::string_view device_name,
                         std::string detail) {
  Evaluation fault = blank_evaluation(device, device_name);
  fault.verdict = tasks::Verdict::Infrastructure;
  fault.detail = std::move(detail);
  return fault;
}

} // namespace winnow::evaluators
