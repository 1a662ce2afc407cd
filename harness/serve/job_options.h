#pragma once

#include "harness/serve/judge_request.h"
#include "store/run_store.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace winnow::harness {

/// What the table judge_jobs keeps of a job beside its kernel.
struct JobOptions {
  std::string task, task_digest;
  JudgeDepth depth = JudgeDepth::Full;
  bool fresh = false;
  store::RowId rival = 0;       ///< the candidate to race against; 0: none
  std::size_t max_variants = 1; ///< JudgeRequest::max_variants
  std::optional<std::uint64_t> seed =
      std::nullopt; ///< of the inputs; nullopt: the evaluation's own
};

/// JSON, as the table has it.
std::string encoded(const JobOptions& options);
/// Throws nlohmann exceptions.
JobOptions decoded(const std::string& text);

} // namespace winnow::harness
