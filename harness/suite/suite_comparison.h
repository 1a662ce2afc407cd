#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The runs of a document "winnow.suite" side by side, computed from the document alone: its member
/// "comparison", with a row for each run. Problems with a flag are left out. A quantity is a mean
/// over the problems. Its interval (95 %) and its rank come from bootstraps over the problems with
/// a fixed seed, so the same document always gives the same comparison. A run ranks after another
/// only if the interval of their differences at the problems of both excludes 0.
nlohmann::json comparison_json(const nlohmann::json& document);

/// The comparison as a table for people; empty for one without rows.
std::string comparison_text(const nlohmann::json& comparison);

} // namespace winnow::harness
