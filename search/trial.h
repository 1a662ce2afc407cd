#pragma once

#include "base/fields.h"
#include "tasks/plan/plan.h"
#include "tasks/result/verdict.h"

#include <string>
#include <vector>

namespace winnow::search {

/// What the tuner learned about one choice of a family's parameters.
struct Trial {
  tasks::ParameterChoice choice;
  tasks::Verdict verdict = tasks::Verdict::NotJudged; ///< NotJudged: it ran and was timed
  std::string machine_code = {};                      ///< digest; empty: not known
  /// By search shape: the default's time / this choice's time. Empty: not timed.
  std::vector<double> speeds = {};
  bool operator==(const Trial&) const = default;
};
WINNOW_FIELDS(Trial, choice, verdict, machine_code, speeds)

double overall(const Trial& trial); ///< geometric mean of `speeds`; 0: not timed

} // namespace winnow::search
