#include "search/prompt_arms.h"

#include <algorithm>
#include <cmath>

namespace winnow::search {
namespace {

// As in arms.cpp: half of a call's typical gain.
constexpr double kDoubtOfAPrompt = 0.05;

} // namespace

void PromptArms::end(const std::string& arm, double gain) {
  for (auto& [name, other] : arms_) {
    other.weight *= kDecay;
    other.gains *= kDecay;
  }
  Arm& ended = arms_[arm];
  ended.under_way = std::max(ended.under_way - 1, 0);
  ++ended.children;
  ended.weight += 1;
  ended.gains += gain;
  ++children_;
}

PromptArms::Arm PromptArms::find(const std::string& name) const {
  const auto found = arms_.find(name);
  return found == arms_.end() ? Arm{} : found->second;
}

double PromptArms::estimate(const std::string& name) const {
  Arm all;
  for (const auto& [other, arm] : arms_) {
    all.weight += arm.weight;
    all.gains += arm.gains;
  }
  const double overall = all.weight > 0 ? all.gains / all.weight : 0;
  const Arm own = find(name);
  return (own.gains + kShrinkage * overall) / (own.weight + kShrinkage);
}

std::string PromptArms::choose(const std::vector<std::string>& arms) const {
  const auto calls = [this](const std::string& name) {
    const Arm arm = find(name);
    return arm.children + arm.under_way;
  };
  const auto newest =
      std::min_element(arms.begin(), arms.end(), [&](const std::string& a, const std::string& b) {
        return calls(a) < calls(b);
      });
  if (newest == arms.end() || calls(*newest) < kTrial) {
    return newest == arms.end() ? "" : *newest;
  }
  std::string best;
  double highest = -1;
  for (const std::string& name : arms) {
    const Arm arm = find(name);
    const double doubt =
        kDoubtOfAPrompt * std::sqrt(std::log(2.0 + children_) / (1.0 + arm.weight + arm.under_way));
    if (const double index = estimate(name) + doubt; index > highest) {
      highest = index;
      best = name;
    }
  }
  return best;
}

} // namespace winnow::search
