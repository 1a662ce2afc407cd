#pragma once

#include "evaluators/evaluation/evaluator.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Throws NotPermitted if an isolation level is required and this machine offers only weaker ones.
void check_isolation(const evaluators::EvaluationOptions& options);

/// The facts that results may depend on: versions, device, compilers, isolation, kernel. Contains
/// no host name and no user name.
nlohmann::json describe_environment(const evaluators::DeviceReport& device);

std::string winnow_version();

} // namespace winnow::harness
