#pragma once

#include "base/text/diagnostic.h"
#include "base/text/positioned_json.h"
#include "tasks/plan/plan.h"
#include "tasks/plan/plan_reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Parses the plan in `json`. `file_text` is the whole kernel file; positions inside strings need
/// it. Appends mistakes to `errors`. The result is valid only without errors.
Plan parse_plan(const JsonValue& json, std::string_view file_text, const std::string& file_name,
                std::vector<Diagnostic>& errors);

/// Parses "tensor_maps" of the plan, if present, and declares their names.
std::vector<TensorMap> parse_tensor_maps(PlanReader& reader, const JsonValue& plan);

/// Parses a list of launches: the value of `key` ("launches", "prepare", "do").
std::vector<Launch> parse_launches(PlanReader& reader, const JsonValue& json,
                                   const std::string& key);

/// Parses the bindings in "let" of `owner`, if present, and declares their names.
std::vector<LetBinding> parse_let(PlanReader& reader, const JsonValue& owner);

} // namespace winnow::tasks
