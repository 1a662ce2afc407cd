#pragma once

#include "evaluators/evaluation/evaluator.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Throws NotPermitted when a level is required and this machine offers only weaker ones.
void check_isolation(const evaluators::EvaluationOptions& options);

/// What results may depend on: versions, device, compilers, isolation, kernel. No host or user
/// names.
nlohmann::json describe_environment(const evaluators::DeviceReport& device);

std::string winnow_version();

} // namespace winnow::harness
