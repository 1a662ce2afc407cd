#pragma once

#include "base/text/diagnostic.h"
#include "base/text/positioned_json.h"
#include "tasks/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Parses the plan in `json`. `file_text` is the whole kernel file; positions inside strings need
/// it. Appends mistakes to `errors`. The result is valid only without errors.
Plan parse_plan(const JsonValue& json, std::string_view file_text, const std::string& file_name,
                std::vector<Diagnostic>& errors);

} // namespace winnow::tasks
