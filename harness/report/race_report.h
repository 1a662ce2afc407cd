#pragma once

#include "tasks/result/evaluation.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

struct Racer {
  std::string file;
  std::string digest;           ///< of file and parameters
  tasks::Evaluation evaluation; ///< nothing in it when it was not judged any more
};

/// A race of A against B. B is judged first, then A beside it: A's evaluation has the race, when
/// both are correct.
struct RaceReport {
  std::string task;
  Racer a, b;
};

/// Which is faster, by how much, how sure; each shape; or which of them is not correct, and why.
std::string race_text(const RaceReport& report);
/// Schema "winnow.race", version 2.
nlohmann::json race_json(const RaceReport& report);

} // namespace winnow::harness
