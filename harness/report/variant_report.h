#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// All parameter choices, as evaluate_family() returns them: parameters, verdict, detail, speedup,
/// speedup_low, speedup_high, timing ("full" or "quick") and times by shape. The first choice
/// counts for the candidate.
nlohmann::json variants_json(const std::vector<tasks::Evaluation>& family);

/// The list as a table, with a time for each search shape. Empty for a single variant.
std::string variants_text(const nlohmann::json& variants);

} // namespace winnow::harness
