#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// What every choice of parameters got, as evaluate_family() returns them: the first one counts for
/// the candidate. A table with a time for each search shape; empty for a single variant.
std::string variants_text(const std::vector<tasks::Evaluation>& family);

/// The same as a list: parameters, verdict, detail, speedup, speedup_bounds, timing ("full" or
/// "quick") and times by shape.
nlohmann::json variants_json(const std::vector<tasks::Evaluation>& family);

} // namespace winnow::harness
