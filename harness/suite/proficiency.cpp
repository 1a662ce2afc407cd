#include "harness/suite/suite_scores.h"

#include <algorithm>
#include <set>
#include <span>

namespace winnow::harness {

std::optional<double> proficiency(const std::vector<ModelSuggestion>& suggestions) {
  if (suggestions.size() < kSuggestions) {
    return std::nullopt;
  }
  constexpr double kNonKnowledge = 0, kNovice = 0.25, kLearner = 0.5, kProficient = 0.75,
                   kExpert = 1;
  const std::span first(suggestions.data(), kSuggestions);
  const auto all = [&](bool ModelSuggestion::*is) {
    return std::all_of(first.begin(), first.end(),
                       [is](const ModelSuggestion& one) { return one.*is; });
  };
  if (std::none_of(first.begin(), first.end(),
                   [](const ModelSuggestion& one) { return one.is_correct; })) {
    return kNonKnowledge;
  }
  if (!all(&ModelSuggestion::is_kernel_file)) {
    return kNovice;
  }
  if (!all(&ModelSuggestion::is_correct)) {
    return kLearner;
  }
  std::set<std::string> texts;
  for (const ModelSuggestion& one : first) {
    texts.insert(one.digest);
  }
  return texts.size() == 1 ? kExpert : kProficient;
}

} // namespace winnow::harness
