#pragma once

#include "tasks/json_fields.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/sitting.h"

namespace winnow::tasks {

/// All of an evaluation, hidden shapes included, without loss: for other processes of Winnow. See
/// evaluation_json() for the public form.
template <> struct JsonForm<Evaluation> {
  static nlohmann::json write(const Evaluation& evaluation);
  /// Throws Error with the path of the first value that is wrong.
  static void read(const nlohmann::json& json, const std::string& path, Evaluation& evaluation);
};

template <> struct JsonForm<SittingResult> {
  static nlohmann::json write(const SittingResult& sitting);
  /// Throws Error with the path of the first value that is wrong.
  static void read(const nlohmann::json& json, const std::string& path, SittingResult& sitting);
};

} // namespace winnow::tasks
