#pragma once

#include "harness/serve/judge_request.h"
#include "harness/serve/reward.h"
#include "store/judge_requests.h"
#include "tasks/result/evaluation.h"

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
  std::optional<double> speed_of_light = {}; ///< JudgeServiceSetup::speed_of_light
};

/// The answer for an item (docs/serve.md): the verdict, the speed and the reward. With a fault the
/// reward is null. Of hidden shapes the answer has neither a size nor a number. `evaluation`:
/// nullptr if `item.fault` says why there is none.
nlohmann::json result_json(const store::JudgeItemRow& item, const JobFacts& job,
                           const tasks::Evaluation* evaluation);

} // namespace winnow::harness
