#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Raised with every change that could change a verdict or a rank. Stored with every evaluation.
constexpr int kEvaluatorVersion = 13;

/// The facts about every evaluation that are known before it begins: the device, its name, the
/// isolation level, the time and the version of the evaluator.
tasks::Evaluation blank_evaluation(std::string_view device, std::string_view device_name,
                                   std::string_view isolation = {});

/// The evaluation of a candidate that the machine failed to judge, for example because its worker
/// died.
tasks::Evaluation machine_fault(std::string_view device, std::string_view device_name,
                                std::string detail);

} // namespace winnow::evaluators
