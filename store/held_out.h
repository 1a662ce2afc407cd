#pragma once

#include "tasks/verdict.h"

#include <cstdint>
#include <string>

namespace winnow::store {

/// What the leader of a run's board is worth on the held-out shapes, judged once.
struct HeldOutResult {
  std::string task, device_name;
  std::int64_t candidate = 0, evaluation = 0; ///< the one that led the board
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  std::string detail;
  double speedup = 0; ///< against the task's baseline, geometric mean over the shapes; 0: not timed
  std::string cases = "[]"; ///< the public form of an evaluation's: JSON
  int evaluator_version = 0;
  std::string judged_at;
};

} // namespace winnow::store
