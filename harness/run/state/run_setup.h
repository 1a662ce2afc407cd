#pragma once

#include "agents/model/model_endpoint.h"
#include "agents/prompts/prompts.h"
#include "evaluators/evaluation/evaluations.h"
#include "harness/config/config.h"
#include "harness/run/state/journal.h"
#include "harness/run/state/progress.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// A model that the run asks.
struct RunModel {
  std::string name; ///< search::Ask::model; empty: it is the only one
  agents::EndpointConfig config;
  agents::ModelEndpoint& endpoint;
  std::optional<agents::Price> price = {}; ///< of the endpoint's calls; nullopt: unknown
};

/// Everything that a run needs. All references must outlive the loop.
struct RunLoopSetup {
  const RunConfig& config;
  std::vector<tasks::Task> tasks;
  tasks::DeviceFacts facts;
  std::string device_kind;
  std::string device_name;
  int devices = 1; ///< at which evaluations run
  Journal& journal;
  std::vector<RunModel> models; ///< one at least
  std::function<std::vector<agents::Message>(const agents::ProposalContext&)> prompts;
  evaluators::EvaluationsFactory evaluations;
  Progress& progress;
  bool is_finished = false;                    ///< an earlier session finished the run
  std::chrono::milliseconds elapsed_before{0}; ///< duration of the run's earlier sessions
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;

  /// The model that the call asks.
  const RunModel& model_of(const search::Ask& ask) const;
};

} // namespace winnow::harness
