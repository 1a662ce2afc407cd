#pragma once

#include "agents/model_request.h"

#include <string>

namespace winnow::agents {

/// What keeps a reply from being JSON of this schema, for the model to mend; empty: nothing.
/// Throws Error for a schema that is none.
std::string schema_violation(const ReplySchema& schema, const std::string& reply);

} // namespace winnow::agents
