#pragma once

#include "harness/serve/judge_request.h"
#include "harness/serve/reward.h"
#include "store/judge_requests.h"
#include "store/run_store.h"
#include "tasks/result/evaluation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// What rewards depend on. `depth`: how far the kernel was to be judged.
RewardFacts reward_facts(const tasks::Evaluation& evaluation, JudgeDepth depth);

/// What a job is about.
struct JobFacts {
  std::string task, task_digest;
  JudgeDepth depth = JudgeDepth::Full;
  std::string versus;                        ///< what speedups are against: "baseline.cu"
  bool has_rival = false;                    ///< the kernel was to race against another one
  std::optional<double> speed_of_light = {}; ///< JudgeServiceSetup::light
};

/// The answer for an item (docs/serve.md): the verdict, the speed and the reward. With a fault the
/// reward is null. Of hidden shapes the answer has neither a size nor a number. `evaluation`:
/// nullptr if `item.fault` says why there is none.
nlohmann::json result_json(const store::JudgeItemRow& item, const JobFacts& job,
                           const tasks::Evaluation* evaluation);

/// What the table judge_jobs keeps of a job beside its kernel.
struct JobOptions {
  std::string task, task_digest;
  JudgeDepth depth = JudgeDepth::Full;
  bool fresh = false;
  store::RowId rival = 0;       ///< the candidate to race against; 0: none
  std::size_t max_variants = 1; ///< JudgeRequest::max_variants
  std::optional<std::uint64_t> seed =
      std::nullopt;                       ///< of the inputs; nullopt: the evaluation's own
  tasks::ParameterChoice parameters = {}; ///< JudgeItem::parameters
  Measuring measuring = {};
  std::optional<std::uint64_t> hidden_draw = std::nullopt;  ///< Protocol::hidden_draw
  std::optional<std::uint64_t> hidden_sizes = std::nullopt; ///< Protocol::hidden_sizes
};

/// JSON, as the table has it.
std::string encoded(const JobOptions& options);
/// Throws nlohmann exceptions.
JobOptions decoded(const std::string& text);

} // namespace winnow::harness
