// Texts of the cells in the tables of a suite. For .cpp files.
#pragma once

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {

/// A share from 0 to 1; null: "-".
inline std::string share_text(const nlohmann::json& share) {
  return share.is_null() ? "-" : fmt::format("{:.2f}", share.get<double>());
}

/// Two decimals; two digits of a small number.
inline std::string number_text(double value) {
  constexpr double kSmall = 0.095;
  return value < kSmall ? fmt::format("{:.2g}", value) : fmt::format("{:.2f}", value);
}

/// A speedup; null: "-".
inline std::string times_text(const nlohmann::json& speedup) {
  return speedup.is_null() ? "-" : number_text(speedup.get<double>()) + "x";
}

/// US dollars.
inline std::string cost_text(const nlohmann::json& dollars) {
  return dollars.is_null() ? "unknown" : fmt::format("${:.4f}", dollars.get<double>());
}

} // namespace winnow::harness
