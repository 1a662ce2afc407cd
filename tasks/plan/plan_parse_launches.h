#pragma once

#include "tasks/plan/plan_reader.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// The launches of a list, which is the value of `key` ("launches", "prepare", "do").
std::vector<Launch> parse_launches(PlanReader& reader, const JsonValue& json,
                                   const std::string& key);

/// The bindings of `owner`'s "let", if it has one; their names are declared.
std::vector<LetBinding> parse_let(PlanReader& reader, const JsonValue& owner);

} // namespace winnow::tasks
