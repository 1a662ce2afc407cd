#include "search/prompt_arms.h"

#include <algorithm>
#include <cmath>

namespace winnow::search {
namespace {

// As in arms.cpp: half of a call's typical gain.
constexpr double kDoubtOfAPrompt = 0.05;

} // namespace

void PromptArms::drop(const std::string& arm) {
  Arm& dropped = arms_[arm];
  dropped.under_way = std::max(dropped.under_way - 1, 0);
}

void PromptArms::end(const std::string& arm, double gain) {
  drop(arm);
  Arm& ended = arms_[arm];
  ++ended.children;
  ended.gains += gain;
  ++children_;
  gains_ += gain;
}

PromptArms::Arm PromptArms::find(const std::string& name) const {
  const auto found = arms_.find(name);
  return found == arms_.end() ? Arm{} : found->second;
}

int PromptArms::children(const std::string& arm) const {
  return find(arm).children;
}

double PromptArms::estimate(const std::string& name) const {
  const Arm arm = find(name);
  const double overall = children_ > 0 ? gains_ / children_ : 0;
  return (arm.gains + kShrinkage * overall) / (arm.children + kShrinkage);
}

std::string PromptArms::choose(const std::vector<std::string>& arms) const {
  std::string best;
  double highest = -1;
  for (const std::string& name : arms) {
    const Arm arm = find(name);
    const double doubt = kDoubtOfAPrompt * std::sqrt(std::log(2.0 + children_) /
                                                     (1.0 + arm.children + arm.under_way));
    if (const double index = estimate(name) + doubt; index > highest) {
      highest = index;
      best = name;
    }
  }
  return best;
}

} // namespace winnow::search
