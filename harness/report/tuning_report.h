#pragma once

#include "harness/tuning/tuned_family.h"
#include "tasks/task/speedup_versus.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A tuning, and where it happened.
struct TuningReport {
  std::string task, file, digest;  ///< digest: SHA-256 of the file's text
  std::vector<std::string> shapes; ///< search shapes
  TunedFamily family;
  /// Part of the trials' wall time in which the device ran kernels; nullopt: not known.
  std::optional<double> busy_share;
  std::string tuned_file; ///< path of the file that was written; empty: none
  std::string dispatch;   ///< why that file picks parameters by shape, or why not; empty: no need
  std::string speedup_versus = std::string(tasks::kVersusBaseline); ///< tasks::speedup_versus()
  bool is_unchanged = false; ///< the file that was written has the text that was given
};

/// Schema "winnow.tuning", version 1.
nlohmann::json tuning_json(const TuningReport& report);
/// The document for users: a table of the fastest choices, what the parameters do, and the result.
std::string tuning_text(const nlohmann::json& document);

} // namespace winnow::harness
