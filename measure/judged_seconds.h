#pragma once

#include "evaluators/evaluation/evaluator.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace winnow::measure {

/// The time to judge one kernel, in seconds. A verdict other than `correct` ends the program.
inline double judged_seconds(evaluators::Evaluator& evaluator, const tasks::KernelFile& kernel,
                             const tasks::ParameterChoice& choice) {
  const auto start = std::chrono::steady_clock::now();
  const tasks::Evaluation result = evaluator.evaluate(kernel, choice);
  const auto end = std::chrono::steady_clock::now();
  if (result.verdict != tasks::Verdict::Correct) {
    std::fprintf(stderr, "not correct: %s\n", result.detail.c_str());
    std::exit(1);
  }
  return std::chrono::duration<double>(end - start).count();
}

} // namespace winnow::measure
