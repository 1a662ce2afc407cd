#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::harness {

/// How a verdict becomes a number for a trainer. docs/serve.md has the formulas.
enum class RewardPreset : std::uint8_t {
  Kevin,  ///< 0.3 for a correct kernel, plus its speedup; 10 at most (Kevin-32B's reward)
  Tiers,  ///< steps from -0.5 to 1, by what went wrong and by the speedup
  Log,    ///< log2 of the lower end of the speedup's interval; at least 0
  Stages, ///< something for each stage that was passed, plus Log
};
std::string_view to_string(RewardPreset preset); ///< "kevin"
std::vector<std::string> reward_names();
/// Throws UsageError with the nearest name.
RewardPreset reward_from_string(const std::string& name);

/// What rewards depend on. A fault of the machine has no such facts, and no reward.
struct RewardFacts {
  bool parsed = false; ///< the reply has a kernel file with a plan
  bool compiled = false;
  bool correct = false;
  double progress = 0;    ///< share of the stages that were passed, 0 to 1
  double speedup = 0;     ///< 0: not timed
  double speedup_low = 0; ///< lower end of the 95 % interval; 0: not known
};

struct Reward {
  double value = 0;
  std::vector<std::pair<const char*, double>> terms; ///< that `value` is made of
};

Reward reward_of(RewardPreset preset, const RewardFacts& facts);

} // namespace winnow::harness
