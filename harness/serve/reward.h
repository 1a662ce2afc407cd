#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

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

/// How a verdict becomes a number for a trainer: the sum of the terms below, not below `least` and
/// not above `most`. A term whose factor is 0 is no part of the formula.
struct RewardFormula {
  /// The value of a correct kernel whose speedup reaches `speedup`, but no later step.
  struct Step {
    double speedup = 0;
    double value = 0;
    bool operator==(const Step&) const = default;
  };
  std::string name;
  double parsed = 0;       ///< added if the reply has a kernel file with a plan
  double compiled = 0;     ///< added if the kernel compiles
  double correct = 0;      ///< added if the kernel is correct
  double progress = 0;     ///< times the share of the stages that were passed
  double speed = 0;        ///< times the speedup of a correct kernel
  double log_speed = 0;    ///< times log2 of the lower end of its interval, which counts from 1
  double not_compiled = 0; ///< added if the kernel does not compile
  double not_correct = 0;  ///< added if the kernel compiles and is not correct
  std::vector<Step> steps; ///< rising; a correct kernel below the first one gets 0
  std::optional<double> least, most;

  bool operator==(const RewardFormula&) const = default;
};

Reward reward_of(const RewardFormula& formula, const RewardFacts& facts);

/// Sets the member of this name, for instance "log_speed" or "steps". False: a formula has no such
/// member. Throws UsageError that says what the member takes.
bool set_member(RewardFormula& formula, const std::string& name, const nlohmann::json& value);
std::vector<std::string> reward_member_names();

/// The formulas that a server knows: the built-in ones (docs/serve.md) and those of its
/// configuration.
class Rewards {
public:
  Rewards();
  /// Throws UsageError for a name that is taken, or that is not made of 1 to 64 letters, digits,
  /// '-' and '_'.
  void add(RewardFormula formula);
  std::vector<std::string> names() const;
  /// Throws UsageError with the nearest name.
  const RewardFormula& find(const std::string& name) const;

private:
  std::map<std::string, RewardFormula> formulas_;
};

/// The formula as the store keeps it beside an answer: the name of a built-in formula, otherwise
/// the whole formula, so that a later start with another configuration gives the same reward.
std::string stored_reward(const RewardFormula& formula);
/// Throws Error for a text that stored_reward() did not make.
RewardFormula reward_from_stored(const std::string& text);

/// The built-in rewards and those of the tables [serve.reward.NAME] of a TOML text. `file`: for
/// messages. Throws UsageError that lists every mistake as "FILE:LINE:COLUMN: mistake".
Rewards parse_rewards(std::string_view text, const std::string& file);

/// The rewards of a file; the built-in ones if the path is empty. Throws also Error.
Rewards load_rewards(const std::filesystem::path& file);

} // namespace winnow::harness
