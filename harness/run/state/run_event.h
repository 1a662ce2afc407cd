#pragma once

#include "agents/model/model_endpoint.h"
#include "evaluators/evaluation/evaluations.h"
#include "harness/run/state/event_queue.h"

#include <string>
#include <variant>

namespace winnow::harness {

/// A reply to the call with this key.
struct Reply {
  std::string key;
  agents::ModelReply reply;
};
struct Interruption {};

/// What other threads tell the thread of the run.
using RunEvent = std::variant<Reply, evaluators::EvaluationResult, Interruption>;
using RunQueue = EventQueue<RunEvent>;

} // namespace winnow::harness
