// The parts of a judged kernel's answer that `winnow serve` and `winnow eval --brief` share. None
// of them has a size or a number of a hidden shape.
#pragma once

#include "tasks/result/evaluation.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Whether the code compiles. `only_compiled`: nothing was to be run.
bool is_compiled(const tasks::Evaluation& evaluation, bool only_compiled);
/// The share of the seven stages that the kernel has passed, 0 to 1. Stages with shown shapes count
/// in part.
double progress_of(const tasks::Evaluation& evaluation, bool only_compiled);
/// The reason for the verdict; empty if a hidden shape decided.
std::string shown_detail(const tasks::Evaluation& evaluation);

/// null for 0, which means: not known.
nlohmann::json known(double value);
/// null: not timed. `versus`: what the speedup is against.
nlohmann::json speedup_json(const tasks::Evaluation& evaluation, const std::string& versus);
/// The timed search shapes.
nlohmann::json shapes_json(const tasks::Evaluation& evaluation);
nlohmann::json findings_json(const tasks::Evaluation& evaluation);

} // namespace winnow::harness
