// Texts of the cells in the tables of a suite. For .cpp files.
#pragma once

#include "base/text/number_text.h"

#include <string>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// A share from 0 to 1; null: "-".
inline std::string share_text(const nlohmann::json& share) {
  return share.is_null() ? "-" : number_text(share.get<double>());
}

/// A speedup; null: "-".
inline std::string times_text(const nlohmann::json& speedup) {
  return speedup.is_null() ? "-" : number_text(speedup.get<double>()) + "x";
}

/// US dollars.
inline std::string cost_text(const nlohmann::json& dollars) {
  return dollars.is_null() ? "unknown" : dollars_text(dollars.get<double>());
}

} // namespace winnow::harness
