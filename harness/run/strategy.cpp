#include "harness/run/strategy.h"

#include "base/error.h"
#include "base/text.h"
#include "harness/run/best_of_n.h"
#include "harness/run/one_plus_one.h"

namespace winnow::harness {

std::string call_key(std::string_view task, const Proposal& proposal) {
  return std::string(task) + "/" + std::to_string(proposal.chain) + "/" +
         std::to_string(proposal.step);
}

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names{"one-plus-one", "best-of-n"};
  return names;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const StrategySettings& settings) {
  if (name == "one-plus-one") {
    return std::make_unique<OnePlusOne>(settings.proposals, settings.chains);
  }
  if (name == "best-of-n") {
    return std::make_unique<BestOfN>(settings.proposals);
  }
  throw UsageError("unknown strategy '" + std::string(name) + "'" +
                   suggestion(name, strategy_names()));
}

} // namespace winnow::harness
