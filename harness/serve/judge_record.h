#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "harness/brief/brief.h"
#include "harness/tuning/tuned_family.h"

#include <cstddef>
#include <optional>
#include <string>

namespace winnow::harness {

/// The evaluation without what a client must not learn: sizes, numbers and reasons of hidden
/// shapes, and what a compile by another client would show.
tasks::Evaluation without_hidden(tasks::Evaluation evaluation);
TunedFamily without_hidden(TunedFamily family);

/// What an owner has asked so far.
struct Account {
  std::size_t asked = 0;           ///< kernels, each once
  std::size_t evaluations = 0;     ///< those of them that compile, or have no answer yet
  std::size_t hidden_answers = 0;  ///< how often it was told whether a kernel passes hidden shapes
  std::optional<std::size_t> most; ///< of evaluations
};

/// What a server sends of an evaluation, so that a command with --server prints what it prints of
/// its own evaluations. As text: JSON with the members "evaluation" (schema
/// "winnow.evaluation-result"), "light" and, where they are not null, "account" and "tuning".
struct JudgeRecord {
  evaluators::EvaluationResult result;
  LightShares light;
  std::optional<Account> account = {}; ///< nullopt: the owner may ask as much as it likes
  /// nullopt: the job was to try one choice of parameters. Wall time is not known: a server judges
  /// for others in between.
  std::optional<TunedFamily> tuning = {};
};
std::string written(const JudgeRecord& record);
JudgeRecord read_record(const std::string& text); ///< throws Error

} // namespace winnow::harness
