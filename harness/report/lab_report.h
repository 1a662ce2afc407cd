#pragma once

#include "lab/comparison.h"
#include "lab/fit.h"
#include "lab/replay.h"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The documents of `winnow lab` and their texts for people. The texts are made of the documents.

/// A landscape, and how the strategies did on it.
struct LabResult {
  lab::Landscape landscape;
  lab::Comparison comparison;
};
/// Schema "winnow.lab_comparison", version 1. `ablated`: the strategy whose mechanisms are switched
/// off one by one; empty: strategies are compared. `roles`: of strategies, which the lab does not
/// simulate.
nlohmann::json lab_comparison_json(const std::vector<LabResult>& results,
                                   const std::string& ablated,
                                   const std::map<std::string, std::vector<std::string>>& roles);
std::string lab_comparison_text(const nlohmann::json& document);

/// Schema "winnow.lab_fit", version 1. `landscape` is the text of the fitted file.
nlohmann::json lab_fit_json(const lab::Fit& fit);
/// The quality of the fit.
std::string lab_fit_text(const nlohmann::json& document);

/// A strategy on the recorded search of one task.
struct LabReplay {
  std::string search;   ///< "quickstart/axpy"
  std::string strategy; ///< its name
  bool is_own = false;  ///< the recorded search used this strategy
  lab::Replay replay;
};
/// Schema "winnow.lab_replay", version 1.
nlohmann::json lab_replay_json(const std::vector<LabReplay>& replays);
/// `searches`: with a line for each search and strategy.
std::string lab_replay_text(const nlohmann::json& document, bool searches);

} // namespace winnow::harness
