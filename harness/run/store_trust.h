#pragma once

#include "harness/config/config.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Whose word counts for the values of a stored configuration that reach outside of the run:
/// endpoints, keys, commands and paths (config_keys.h). Without a word of the user, they count only
/// if this user has stored the run on this machine.
struct StoreTrust {
  bool is_given = false;        ///< --trust-store: the store's own values count
  std::optional<RunConfig> own; ///< --config: these values count
};

/// The configuration with its seal: a keyed digest over all of it. Only who can read this user's
/// secret on this machine (base/secrets.h) can make it.
nlohmann::json sealed_config(nlohmann::json config);

/// Whether this user stored the configuration on this machine: its seal is right, and nobody else
/// owns the file `store`.
bool is_own_config(const nlohmann::json& stored, const std::filesystem::path& store);

/// Whether a resumed run may have another value of the key ("limits.dollars").
bool may_change_on_resume(const std::string& key);

/// Sets each value of `config` that reaches outside to that of `own`, and each other one that may
/// change on a resume if `own` sets it. Returns lines about what differs: these, and the values of
/// `own` that the run does not take.
std::string take_values_of(const RunConfig& own, RunConfig& config);

/// Throws UsageError if `stored` holds values that reach outside, naming each with its value. Those
/// that an override has replaced do not count.
void refuse_reaching_values(const RunConfig& stored, const std::vector<ConfigOverride>& overrides,
                            std::string_view run, const std::filesystem::path& store);

} // namespace winnow::harness
