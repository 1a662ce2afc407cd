#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The runs of a document "winnow.suite" side by side, computed from the document alone: its member
/// "comparison", with a row for each run. Problems with a flag are left out. A quantity is a mean
/// over the problems. Its interval (95 %) is a bootstrap over the problems. A run ranks after
/// another only if the sign flip test of their differences at the problems of both has a p-value
/// below 0.05: a bootstrap of few problems would call three wins and no loss sure. The seeds are
/// fixed, so the same document always gives the same comparison.
nlohmann::json comparison_json(const nlohmann::json& document);

/// The comparison as a table for people; empty for one without rows.
std::string comparison_text(const nlohmann::json& comparison);

} // namespace winnow::harness
