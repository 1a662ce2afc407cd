#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// What is wrong with a value by its JSON Schema, with the place ("kernels[2].name: ..."); empty:
/// nothing. Of JSON Schema it knows what the tools use: type, properties, required, items, enum,
/// minItems, maxItems, minimum and maximum. An object may have no other properties.
std::string fault_of_value(const nlohmann::json& schema, const nlohmann::json& value,
                           const std::string& path);

} // namespace winnow::harness
