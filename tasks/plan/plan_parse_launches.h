#pragma once

#include "tasks/plan/plan_reader.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// Parses a list of launches: the value of `key` ("launches", "prepare", "do").
std::vector<Launch> parse_launches(PlanReader& reader, const JsonValue& json,
                                   const std::string& key);

/// Parses the bindings in "let" of `owner`, if present, and declares their names.
std::vector<LetBinding> parse_let(PlanReader& reader, const JsonValue& owner);

} // namespace winnow::tasks
