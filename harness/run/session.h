#pragma once

#include "agents/model/model_endpoint.h"
#include "harness/config/config.h"
#include "harness/exit/exit_codes.h"
#include "harness/named/named_run.h"
#include "harness/run/run_report.h"
#include "harness/run/store_trust.h"
#include "store/run_store.h"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The text that a session prints to stdout when it ends: of the run of this name.
using RunReport = std::function<std::string(const store::RunStore&, const std::string& run)>;

/// Creates a run from its configuration and drives it until it ends, is interrupted or reaches a
/// limit. Then prints the report (default: the leaderboard) to stdout and the commands to continue
/// to stderr. If the name is taken already: with `name_is_given` throws UsageError, otherwise
/// appends "-2",
/// "-3", ... to the name. `instead` replaces the configured endpoint, unless it is nullptr.
/// Tasks that need PyTorch are left out where PyTorch is missing.
ExitCode start_run(RunConfig config, bool name_is_given, agents::ModelEndpoint* instead = nullptr,
                   RunReport report = run_leaderboard);

/// Continues a run where it stopped. Overrides may change only limits, the endpoint and
/// run.parallel: other changes would make the results of one run incomparable. Of a store from
/// somebody else, obeys what `trust` allows. `instead` and `report` are those of start_run().
ExitCode resume_run(const std::string& store, const std::string& run,
                    const std::vector<ConfigOverride>& overrides, const StoreTrust& trust,
                    agents::ModelEndpoint* instead = nullptr, RunReport report = run_leaderboard);

/// The configuration of a run in the file `store`, with the overrides applied. Every command that
/// obeys a stored configuration takes it from here. Throws UsageError for an override that may not
/// change, and for values that nobody has allowed (store_trust.h).
RunConfig resumed_config(const store::RunRow& run, const std::filesystem::path& store,
                         const std::vector<ConfigOverride>& overrides, const StoreTrust& trust);

/// The configuration of a run that keeps kernels which a person wrote (`winnow eval --store`).
nlohmann::json config_of_person();
bool is_of_person(const nlohmann::json& run_config);
/// The configuration of a run that keeps kernels which trainers sent (`winnow serve --judge`).
nlohmann::json config_of_server();
/// Whether the run is a search: not of a person, nor of a server, nor of a loop that asks a server.
bool is_of_search(const nlohmann::json& run_config);

/// Whether the configuration has the prompt templates with which the run began. True for a run of
/// an earlier version, which did not keep their digests.
bool has_same_prompts(const nlohmann::json& stored, const RunConfig& config);

/// Finds and locks a run: no other process may drive it as long as `store` lives. Throws UsageError
/// if the run does not exist, Error if another process drives it.
store::RunRow locked_run(store::RunStore& store, const std::string& name);

} // namespace winnow::harness
