#include "base/error.h"
#include "base/text.h"
#include "harness/serve/client_json.h"
#include "harness/serve/compat.h"
#include "harness/serve/reward_config.h"
#include "harness/serve/target.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace winnow;
using namespace winnow::harness;

namespace {

const nlohmann::json kResult = {{"id", "x"},          {"reward", 2.3},   {"parsed", true},
                                {"compiled", true},   {"correct", true}, {"progress", 1.0},
                                {"speedup", nullptr}, {"time_ns", 1e6},  {"verdict", "wrong"}};

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

void try_trainer(Trainer trainer, std::string_view text) {
  const nlohmann::json body = parse_client_json(text);
  const std::vector<JudgeItem> items = trainer_items(trainer, body, "axpy");
  check(items);
  const std::vector<nlohmann::json> results(items.size(), kResult);
  trainer_reply(trainer, body, results, true).dump(); // throws for invalid UTF-8
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
    try_trainer(Trainer::OpenRlhf, text);
    break;
  case 2:
    try_trainer(Trainer::Slime, text);
    break;
  case 3:
    if (text.find("verify_responses") != std::string::npos) {
      nemo_gym_metrics(parse_client_json(text)).dump();
    } else {
      try_trainer(Trainer::NemoGym, text);
    }
    break;
  case 4: {
    const JudgeItem item = kernelgym_item(parse_client_json(text), "axpy");
    check({item});
    kernelgym_status(item.id, &kResult).dump();
    break;
  }
  case 6:
    try_trainer(Trainer::KernelGymBatch, text);
    kernelgym_priority(parse_client_json(text));
    break;
  case 7:
    try_rewards(text);
    break;
  default: // 5
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
    try_one(data[0] % 8, {reinterpret_cast<const char*>(data + 1), size - 1});
  } catch (const UsageError& error) { // the request has a mistake
    require(!find_invalid_utf8(error.what()));
  }
  return 0;
}
