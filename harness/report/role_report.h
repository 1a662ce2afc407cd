#pragma once

#include "store/run_store.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// What the roles of a run have cost, said and got right: schema winnow.roles, version 1. `roles`
/// is empty for a run without roles.
nlohmann::json roles_json(const store::RunStore& store, const store::RunRow& run);

/// The document of roles_json() as tables and lines; empty for a run without roles.
std::string roles_text(const nlohmann::json& document);

} // namespace winnow::harness
