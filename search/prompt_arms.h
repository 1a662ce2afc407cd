#pragma once

#include <map>
#include <string>
#include <vector>

namespace winnow::search {

/// A bandit over versions of a prompt. An arm's estimate is the mean gain of its children, drawn
/// towards the mean of all children as if kShrinkage more children had that mean. So a version that
/// was lucky once does not lead, as it would by its best child. Old gains decay, because gains
/// become rare in the course of a search: otherwise the arms of its beginning would stay ahead.
class PromptArms {
public:
  static constexpr double kShrinkage = 5;
  static constexpr double kDecay = 0.95; ///< at each child
  static constexpr int kTrial = 4;       ///< children that each arm gets before estimates count

  void begin(const std::string& arm) { ++arms_[arm].under_way; }
  /// `gain`: of the child over its parent, a log speedup of 0 or more.
  void end(const std::string& arm, double gain);
  double estimate(const std::string& arm) const;
  /// The arm with the fewest children, until each has kTrial; then the arm with the highest
  /// estimate plus an allowance for doubt. The first one among equals. A call under way counts as a
  /// child, so that calls spread.
  std::string choose(const std::vector<std::string>& arms) const;

private:
  struct Arm {
    int children = 0;
    int under_way = 0;
    double weight = 0; ///< of its children: decays like `gains`
    double gains = 0;
  };
  Arm find(const std::string& name) const;
  std::map<std::string, Arm> arms_;
  int children_ = 0; ///< of all arms
};

} // namespace winnow::search
