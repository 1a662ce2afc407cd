#pragma once

#include "tasks/result/evaluation.h"

#include <string>

namespace winnow::harness {

/// The evaluation without what a client must not learn: sizes, numbers and reasons of hidden
/// shapes, and what a compile by another client would show.
tasks::Evaluation without_hidden(tasks::Evaluation evaluation);

/// The evaluation as a message of schema "winnow.evaluation-result", without_hidden(). A command
/// with --server reads it and prints what it prints of its own evaluations.
std::string record_text(const std::string& job, const tasks::Evaluation& evaluation);

} // namespace winnow::harness
