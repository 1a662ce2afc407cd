#pragma once

#include "tasks/result/evaluation.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

struct Racer {
  std::string file;
  std::string digest;           ///< digest of file and parameters
  tasks::Evaluation evaluation; ///< empty if the kernel was not judged
};

/// A race of A against B. B is judged first, then A beside B. If both are correct, A's evaluation
/// contains the race.
struct RaceReport {
  std::string task;
  Racer a, b;
};

/// The faster kernel, the ratio and its certainty, and the result at each shape; or which kernel is
/// not correct, and why.
std::string race_text(const RaceReport& report);
/// Schema "winnow.race", version 2.
nlohmann::json race_json(const RaceReport& report);

} // namespace winnow::harness
