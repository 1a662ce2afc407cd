#pragma once

#include "agents/model/model_request.h"

#include <string>

namespace winnow::agents {

/// How the reply violates the schema, in words that help the model to correct it; empty: it does
/// not. Throws Error if the schema itself is not valid.
std::string schema_violation(const ReplySchema& schema, const std::string& reply);

} // namespace winnow::agents
