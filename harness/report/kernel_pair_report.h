#pragma once

#include "tasks/result/evaluation.h"
#include "tasks/task/speedup_versus.h"

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

struct JudgedKernel {
  std::string file;
  std::string digest;           ///< digest of file and parameters
  tasks::Evaluation evaluation; ///< empty if the kernel was not judged
  std::string text = {};
};

/// A kernel and, if given, another one that is judged first. If both are correct, the evaluation of
/// `kernel` contains the race of the two, launch beside launch.
struct KernelPair {
  std::string task;
  JudgedKernel kernel; ///< "A" of a race
  std::optional<JudgedKernel> against;
  std::string speedup_versus = std::string(tasks::kVersusBaseline); ///< tasks::speedup_versus()
};

/// Schema "winnow.race", version 2. The pair has both kernels.
nlohmann::json race_json(const KernelPair& pair);
/// The document for users: the faster kernel, the ratio and its certainty, and the result at each
/// shape; or which kernel is not correct, and why.
std::string race_text(const nlohmann::json& document);

/// Schema "winnow.profile", version 2; times in ns, energy in J. Needs a profile in the
/// evaluations.
nlohmann::json profile_json(const KernelPair& pair);
/// The document for users: a table, the evidence for each limiter, and, once each, the reasons why
/// something could not be measured. One kernel gives one table with a column for each shape; two
/// kernels give a table for each shape. A kernel that is not correct is shown as `winnow eval`
/// shows it.
std::string profile_text(const nlohmann::json& document);

} // namespace winnow::harness
