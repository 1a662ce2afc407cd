#pragma once

#include "search/search.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::search {

/// The mechanisms of a strategy, each of which can be switched. A strategy is a policy and nothing
/// else, so that two strategies differ only in what their policies say.
struct Policy {
  /// Lineages: each call builds on the earlier ones of its lineage. Archive: each call builds on
  /// one of the cells of an archive.
  enum class Population { Lineages, Archive };
  Population population = Population::Lineages;
  bool lineage_for_each_call = false; ///< lineages: every call stands alone
};

/// A policy that has a name: a strategy of Winnow's own, or a published loop.
struct Preset {
  std::string name;    ///< the word in a config: strategy = "archive"
  std::string summary; ///< one sentence
  std::string source;  ///< the paper; empty: Winnow's own
  Policy policy;
  std::vector<std::string> roles; ///< models that advise or filter; see docs/strategies.md
};

const std::vector<Preset>& presets();
/// Throws UsageError (with the nearest match) for an unknown name.
const Preset& preset(std::string_view name);

/// The policy with one of its mechanisms switched off.
struct Ablation {
  std::string without; ///< the mechanism: "repair"
  Policy policy;
};
/// One for each mechanism that the policy has.
std::vector<Ablation> ablations(const Policy& policy);

std::unique_ptr<Search> make_search(const Policy& policy, Settings settings);

} // namespace winnow::search
