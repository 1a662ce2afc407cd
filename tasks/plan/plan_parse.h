#pragma once

#include "tasks/diagnostic.h"
#include "tasks/plan/plan.h"
#include "tasks/positioned_json.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// The plan that `json` states. `file_text` is the whole kernel file (for positions inside
/// strings). Mistakes are appended to `errors`; the result is of use only when there are none.
Plan parse_plan(const JsonValue& json, std::string_view file_text, const std::string& file_name,
                std::vector<Diagnostic>& errors);

} // namespace winnow::tasks
