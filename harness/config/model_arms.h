#pragma once

#include "harness/config/config.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The models of a run: those of [[models]], otherwise the model of [endpoint] without a name.
/// Models that write kernels come first.
std::vector<ModelArm> models_of(const RunConfig& config);

/// The names that a table of [[models]] may set: those of [endpoint], and "name".
std::vector<std::string> model_key_names();

/// Derives the endpoints of all models from [endpoint] and their tables, and gives names to models
/// without one. Throws UsageError if two models have the same name.
void resolve_models(RunConfig& config);

/// The tables as stored with a run. The inverse throws BadValue.
nlohmann::json models_to_json(const RunConfig& config);
void models_from_json(RunConfig& config, const nlohmann::json& tables);

/// The roles of the run's searches: run.roles, otherwise those of the strategy.
std::vector<std::string> roles_of(const RunConfig& config);
/// Whether the model writes no kernels, because a role asks it.
bool is_model_of_a_role(const RunConfig& config, const std::string& model);

/// " (model 'cheap' of [[models]])"; empty for a model without a name.
std::string in_words(const ModelArm& model);

} // namespace winnow::harness
