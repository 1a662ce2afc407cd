#include "search/arms.h"

#include <cmath>

namespace winnow::search {
namespace {

constexpr double kDecay = 0.95;
// Half a call's typical gain (ln 1.1): an arm without rewards is tried again before long.
constexpr double kDoubt = 0.05;
constexpr double kPriorOfAnUnknownArm = 0.1;

std::string_view model_in(std::string_view arm) {
  const std::size_t at = arm.find('@');
  return at == std::string_view::npos ? std::string_view() : arm.substr(at + 1);
}

} // namespace

std::string arm_name(const std::string& op, const std::string& model) {
  return model.empty() ? op : op + "@" + model;
}

void Arms::begin(const std::string& arm) {
  ++arms_[arm].in_flight;
}

void Arms::end(const std::string& arm, double reward, double dollars, double device_seconds) {
  for (auto& [name, other] : arms_) {
    other.calls *= kDecay;
    other.rewards *= kDecay;
  }
  Arm& ended = arms_[arm];
  ended.in_flight -= ended.in_flight > 0 ? 1 : 0;
  ended.calls += 1;
  ended.rewards += reward;
  ended.dollars += dollars;
  ended.device_seconds += device_seconds;
  ++ended.ended;
  ++ended_;
  dollars_ += dollars;
  device_seconds_ += device_seconds;
}

/// 1: as much as the mean call, in both currencies.
double Arms::relative_cost(const Arm& arm) const {
  if (arm.ended == 0) {
    return 1;
  }
  const auto ratio = [&](double own, double all) {
    return all > 0 ? (own / arm.ended) / (all / ended_) : 1;
  };
  return (ratio(arm.dollars, dollars_) + ratio(arm.device_seconds, device_seconds_)) / 2;
}

double Arms::index(const std::string& name) const {
  const auto prior = prior_.find(name.substr(0, name.find('@')));
  const double weight = prior == prior_.end() ? kPriorOfAnUnknownArm : prior->second;
  const Arm arm = find(name);
  return weight * expected(arm, arm.calls + arm.in_flight) / std::max(relative_cost(arm), 0.05);
}

Arms::Arm Arms::find(const std::string& name) const {
  const auto found = arms_.find(name);
  return found == arms_.end() ? Arm{} : found->second;
}

/// The reward that a call promises after so many calls.
double Arms::expected(const Arm& arm, double calls) const {
  const double mean = calls > 0 ? arm.rewards / calls : 0;
  return mean + kDoubt * std::sqrt(std::log(2.0 + ended_) / (1 + calls));
}

double Arms::expected_doublings(const std::string& arm) const {
  const Arm own = find(arm);
  return expected(own, own.calls) / std::log(2.0);
}

double Arms::price_of(const std::string& arm) const {
  Arm known = find(arm);
  if (known.ended == 0) {
    for (const auto& [name, other] : arms_) {
      if (model_in(name) == model_in(arm)) {
        known.ended += other.ended;
        known.dollars += other.dollars;
      }
    }
  }
  if (known.ended > 0) {
    return known.dollars / known.ended;
  }
  return ended_ > 0 ? dollars_ / ended_ : 0;
}

std::string Arms::choose(const std::vector<std::string>& arms) const {
  std::string best;
  double highest = -1;
  for (const std::string& arm : arms) {
    if (const double own = index(arm); own > highest) {
      highest = own;
      best = arm;
    }
  }
  return best;
}

} // namespace winnow::search
