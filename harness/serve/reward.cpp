#include "harness/serve/reward.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace winnow::harness {
namespace {

constexpr std::array kPresets{RewardPreset::Kevin, RewardPreset::Tiers, RewardPreset::Log,
                              RewardPreset::Stages};
constexpr double kCorrect = 0.3; // of Kevin-32B: 0.3 * correct + time of baseline / time of kernel
constexpr double kMostOfKevin = 10;

Reward sum_of(std::vector<std::pair<const char*, double>> terms) {
  Reward reward{0, std::move(terms)};
  for (const auto& [name, value] : reward.terms) {
    reward.value += value;
  }
  return reward;
}

double log_speed(const RewardFacts& facts) {
  return facts.correct && facts.speedup_low > 1 ? std::log2(facts.speedup_low) : 0;
}

Reward kevin(const RewardFacts& facts) {
  Reward reward = sum_of(
      {{"correct", facts.correct ? kCorrect : 0}, {"speed", facts.correct ? facts.speedup : 0}});
  reward.value = std::min(reward.value, kMostOfKevin);
  return reward;
}

/// As the reward client of KernelGYM has them.
double tier(const RewardFacts& facts) {
  if (!facts.correct) {
    return facts.compiled ? -0.3 : -0.5;
  }
  constexpr std::pair<double, double> kSteps[] = {
      {3, 1.0}, {2, 0.8}, {1.5, 0.6}, {1.2, 0.4}, {1, 0.2}};
  for (const auto& [speedup, value] : kSteps) {
    if (facts.speedup >= speedup) {
      return value;
    }
  }
  return -0.1;
}

} // namespace

std::string_view to_string(RewardPreset preset) {
  switch (preset) {
  case RewardPreset::Kevin:
    return "kevin";
  case RewardPreset::Tiers:
    return "tiers";
  case RewardPreset::Log:
    return "log";
  case RewardPreset::Stages:
    return "stages";
  }
  return "kevin";
}

std::vector<std::string> reward_names() {
  std::vector<std::string> names;
  names.reserve(kPresets.size());
  for (const RewardPreset preset : kPresets) {
    names.emplace_back(to_string(preset));
  }
  return names;
}

RewardPreset reward_from_string(const std::string& name) {
  for (const RewardPreset preset : kPresets) {
    if (to_string(preset) == name) {
      return preset;
    }
  }
  const std::string shown = shortened(to_valid_utf8(name), 40);
  throw UsageError("there is no reward '" + shown + "'" + suggestion(shown, reward_names()));
}

Reward reward_of(RewardPreset preset, const RewardFacts& facts) {
  switch (preset) {
  case RewardPreset::Kevin:
    return kevin(facts);
  case RewardPreset::Tiers:
    return sum_of({{"tier", tier(facts)}});
  case RewardPreset::Log:
    return sum_of({{"log_speed", log_speed(facts)}});
  case RewardPreset::Stages:
    break;
  }
  return sum_of({{"parsed", facts.parsed ? 0.05 : 0},
                 {"compiled", facts.compiled ? 0.1 : 0},
                 {"progress", 0.3 * facts.progress},
                 {"log_speed", log_speed(facts)}});
}

} // namespace winnow::harness
