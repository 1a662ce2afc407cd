#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Compares two documents of schema "winnow.candidate". Schema "winnow.diff", version 1.
nlohmann::json diff_json(const nlohmann::json& a, const nlohmann::json& b);
/// `race`: the command that races A against B.
std::string diff_text(const nlohmann::json& document, const std::string& race);

} // namespace winnow::harness
