#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::search {

/// The name of an arm. `model`: empty if there is no choice.
std::string arm_name(const std::string& op, const std::string& model);

/// A bandit over what a call can be. The name of an arm is an operator, "diff", or an operator and
/// a model, "diff@cheap". The reward of a call is the gain in log speedup over the
/// leader, beyond the noise. An arm's index is the mean of its rewards plus an allowance for doubt,
/// times a prior weight, divided by what the arm costs beside the others. Old rewards decay,
/// because gains become rare. A call under way counts as one without reward, so that calls spread.
class Arms {
public:
  /// `prior`: weights of the operators, for arms without experience.
  explicit Arms(std::map<std::string, double> prior) : prior_(std::move(prior)) {}

  void begin(const std::string& arm);
  /// `dollars` and `device_seconds`: what the call cost in the end; 0: free or unknown.
  void end(const std::string& arm, double reward, double dollars, double device_seconds);
  /// The one of these arms with the highest index; the first one among equals.
  std::string choose(const std::vector<std::string>& arms) const;
  double index(const std::string& arm) const;

  int ended() const { return ended_; } ///< number of calls
  /// The gain that the next call of the arm promises, in doublings of the speed: as in the index,
  /// the mean of its rewards plus the allowance for doubt. Ignores calls under way.
  double expected_doublings(const std::string& arm) const;
  /// The mean price of the arm's calls in dollars. Before the first one has ended: of all calls to
  /// the same model, otherwise of all calls.
  double price_of(const std::string& arm) const;

private:
  struct Arm {
    double calls = 0; ///< that ended; decays like `rewards`
    double rewards = 0;
    int in_flight = 0;
    int ended = 0;
    double dollars = 0, device_seconds = 0;
  };
  Arm find(const std::string& name) const;
  double expected(const Arm& arm, double calls) const;
  double relative_cost(const Arm& arm) const;

  std::map<std::string, double> prior_;
  std::map<std::string, Arm> arms_;
  int ended_ = 0;
  double dollars_ = 0, device_seconds_ = 0;
};

} // namespace winnow::search
