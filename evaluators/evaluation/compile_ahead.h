#pragma once

#include "evaluators/evaluation/evaluation_request.h"

#include <functional>

namespace winnow::evaluators {

struct DeviceHost;

/// Compiles into the cache what the request will need: one module for each choice of parameters.
/// In depth Full the hidden shapes may need other instances of a template. Any thread. Never throws
/// because of the candidate.
void compile_ahead(DeviceHost& host, const EvaluationRequest& request,
                   const std::function<bool()>& cancelled);

} // namespace winnow::evaluators
