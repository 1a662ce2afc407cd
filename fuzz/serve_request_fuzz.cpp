#include "base/error.h"
#include "base/text.h"
#include "harness/serve/client_request.h"
#include "harness/serve/judge_request.h"
#include "harness/serve/reward.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace winnow;
using namespace winnow::harness;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check(const std::vector<JudgeItem>& items) {
  require(!items.empty() && items.size() <= kMaxItems);
  for (const JudgeItem& item : items) {
    require(!item.problem.empty() || (!item.task.empty() && item.text.size() <= kMaxItemBytes));
    require(!find_invalid_utf8(item.problem));
  }
}

void try_rewards(std::string_view text) {
  const Rewards rewards = parse_rewards(text, "serve.toml");
  for (const std::string& name : rewards.names()) {
    const RewardFormula& formula = rewards.find(name);
    require(reward_from_stored(stored_reward(formula)) == formula);
    require(std::isfinite(reward_of(formula, {true, true, true, 1, 3, 2.5}).value));
  }
}

void try_one(int kind, std::string_view text) {
  switch (kind) {
  case 0: {
    const JudgeRequest request = parse_judge_request(text);
    check(request.items);
    require(request.max_variants >= 1 && request.max_variants <= kMostVariants);
    require(request.metadata.empty() || nlohmann::json::accept(request.metadata));
    break;
  }
  case 1:
    try_rewards(text);
    break;
  default: // 2
    if (const auto target = parse_target(text)) {
      require(target->number("wait_s", 600) <= 600);
    }
  }
}

} // namespace

// A request comes from any client. The first byte selects the form.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  try {
    try_one(data[0] % 3, {reinterpret_cast<const char*>(data + 1), size - 1});
  } catch (const UsageError& error) { // the request has a mistake
    require(!find_invalid_utf8(error.what()));
  }
  return 0;
}
