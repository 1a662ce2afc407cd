#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A setting of a run. `words` may be on a page that leaves the machine.
struct RunSetting {
  std::string value; ///< what is compared
  std::string words; ///< "run.max_variants=8", "prompts mine/question_improve.md (3fa2b1c0)"
};

/// By key of the configuration. Without what says where a run is, and in which order it works.
using RunSettings = std::map<std::string, RunSetting>;
RunSettings run_settings(const nlohmann::json& stored_config);

/// A run of a comparison.
struct ComparedRun {
  std::string name;
  std::string base; ///< "model, strategy": the first words of its label
  RunSettings settings;
};

/// For each run what its label says after `base`, so that no two labels are equal: the settings in
/// which the runs of this `base` differ, and prompt templates of the user's own, else the name of
/// the run. Empty: nothing more is needed.
std::vector<std::string> distinctions(const std::vector<ComparedRun>& runs);

} // namespace winnow::harness
