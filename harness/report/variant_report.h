#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A table of all parameter choices, as evaluate_family() returns them, with a time for each search
/// shape. The first choice counts for the candidate. Empty for a single variant.
std::string variants_text(const std::vector<tasks::Evaluation>& family);

/// The same as a list: parameters, verdict, detail, speedup, speedup_bounds, timing ("full" or
/// "quick") and times by shape.
nlohmann::json variants_json(const std::vector<tasks::Evaluation>& family);

} // namespace winnow::harness
