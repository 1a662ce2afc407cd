#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// An evaluation for a person: a line for each case, the verdict, why, and notes. Hidden shapes
/// appear by their verdict only.
std::string eval_text(const tasks::Evaluation& evaluation);
/// On what it was judged, from which seed, in how many `seconds`; a second line where boards do not
/// rank it.
std::string circumstances_text(const tasks::Evaluation& evaluation, double seconds);
/// "BLOCK=128, VEC=4"; "no parameters" for none.
std::string parameters_text(const tasks::ParameterChoice& parameters);

} // namespace winnow::harness
