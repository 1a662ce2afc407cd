#include "store/training/training_selection.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace winnow::store {
namespace {

using Indices = std::vector<std::size_t>;
using tasks::Verdict;

constexpr double kRewardOfCorrect = 0.3; // as in Kevin's reward

/// Keeps the elements of `list` for which `keep` holds, and counts the others under `reason`.
template <typename Element, typename Keep>
void keep_if(std::vector<Element>& list, LeftOut& left_out, const std::string& reason,
             const Keep& keep) {
  const std::size_t before = list.size();
  list.erase(std::remove_if(list.begin(), list.end(), [&](const Element& e) { return !keep(e); }),
             list.end());
  if (list.size() < before) {
    left_out.emplace_back(reason, before - list.size());
  }
}

Indices all_of(const std::vector<TrainingFacts>& facts) {
  Indices indices(facts.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = i;
  }
  return indices;
}

/// Of replies with the same machine code, the shortest stays; of equally long ones the first.
void keep_one_of_each_code(const std::vector<TrainingFacts>& facts, Indices& chosen,
                           LeftOut& left_out) {
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](std::size_t a, std::size_t b) { return facts[a].tokens < facts[b].tokens; });
  std::set<std::pair<std::string, std::string>> seen;
  keep_if(chosen, left_out, "has the machine code of a shorter reply", [&](std::size_t i) {
    return facts[i].code.empty() || seen.emplace(facts[i].board, facts[i].code).second;
  });
}

/// Of the replies to one prompt a longer one stays only if its kernel is faster, outside the noise,
/// than those of all shorter ones. `chosen` has the shorter ones first.
void keep_what_its_length_earned(const std::vector<TrainingFacts>& facts, Indices& chosen,
                                 LeftOut& left_out) {
  std::map<std::pair<std::string, std::int64_t>, double> fastest;
  keep_if(chosen, left_out, "is no faster than a shorter reply to its prompt", [&](std::size_t i) {
    const TrainingFacts& reply = facts[i];
    const auto [best, is_first] =
        fastest.emplace(std::pair(reply.board, reply.prompt), reply.speedup_high);
    const bool earned = is_first || reply.speedup_low > best->second;
    best->second = std::max(best->second, reply.speedup_high);
    return earned;
  });
}

/// Puts the first of each task before the second of each task, and leaves out what comes after
/// `per_task`. Within a task the order stays.
template <typename Element, typename TaskOf>
void take_turns(std::vector<Element>& list, std::size_t per_task, LeftOut& left_out,
                const TaskOf& task_of) {
  std::map<std::string, std::size_t> count;
  std::vector<std::pair<std::size_t, Element>> turns;
  turns.reserve(list.size());
  for (const Element& element : list) {
    turns.emplace_back(count[task_of(element)]++, element);
  }
  std::stable_sort(turns.begin(), turns.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.first, task_of(a.second)) < std::tuple(b.first, task_of(b.second));
  });
  keep_if(turns, left_out, fmt::format("comes after the first {} of its task", per_task),
          [&](const auto& turn) { return per_task == 0 || turn.first < per_task; });
  list.clear();
  for (const auto& turn : turns) {
    list.push_back(turn.second);
  }
}

bool is_fault_of_the_reply(Verdict verdict) {
  switch (verdict) {
  case Verdict::NotJudged:
  case Verdict::Infrastructure:
  case Verdict::Unsupported:
  case Verdict::Refused:
    return false;
  default:
    return true;
  }
}

/// By board and kernel: the first reply to each prompt that has the kernel.
using Racers = std::map<std::pair<std::string, std::string>, Indices>;

Racers racers_of(const std::vector<TrainingFacts>& facts) {
  Racers racers;
  std::set<std::tuple<std::string, std::string, std::int64_t>> seen;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const TrainingFacts& reply = facts[i];
    if (reply.verdict == Verdict::Correct && !reply.unranked && !reply.kernel.empty() &&
        seen.emplace(reply.board, reply.kernel, reply.prompt).second) {
      racers[{reply.board, reply.kernel}].push_back(i);
    }
  }
  return racers;
}

void add_pairs(const std::vector<TrainingFacts>& facts, const Indices& faster,
               const Indices& slower, std::size_t race, std::vector<TrainingPair>& pairs) {
  for (const std::size_t a : faster) {
    for (const std::size_t b : slower) {
      if (facts[a].prompt == facts[b].prompt) {
        pairs.push_back({a, b, race});
      }
    }
  }
}

} // namespace

double TrainingReward::value() const {
  return correct ? kRewardOfCorrect + speedup_low : 0;
}

TrainingReward reward_of(const TrainingFacts& facts) {
  TrainingReward reward;
  reward.has_kernel = facts.verdict != Verdict::BadReply;
  reward.compiled = facts.stage > tasks::Stage::Compile;
  reward.correct = facts.verdict == Verdict::Correct;
  reward.speedup_low = reward.correct ? facts.speedup_low : 0;
  return reward;
}

Indices select_supervised(const std::vector<TrainingFacts>& facts, const TrainingOptions& options,
                          LeftOut& left_out) {
  Indices chosen = all_of(facts);
  const auto keep = [&](const std::string& reason, const auto& test) {
    keep_if(chosen, left_out, reason, [&](std::size_t i) { return test(facts[i]); });
  };
  keep("is not correct", [](const auto& reply) { return reply.verdict == Verdict::Correct; });
  keep("is not promoted", [](const auto& reply) { return reply.promoted; });
  keep("may not be ranked", [](const auto& reply) { return !reply.unranked; });
  keep(fmt::format("is not faster than {}x", options.above),
       [&](const auto& reply) { return reply.speedup_low > options.above; });
  keep_one_of_each_code(facts, chosen, left_out);
  keep_what_its_length_earned(facts, chosen, left_out);
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(-facts[a].speedup_low, facts[a].candidate) <
           std::tuple(-facts[b].speedup_low, facts[b].candidate);
  });
  take_turns(chosen, options.per_task, left_out, [&](std::size_t i) { return facts[i].task; });
  return chosen;
}

std::vector<TrainingPair> select_pairs(const std::vector<TrainingFacts>& facts,
                                       const std::vector<DecidedRace>& races,
                                       const TrainingOptions& options, LeftOut& left_out) {
  const Racers racers = racers_of(facts);
  std::vector<TrainingPair> pairs;
  for (std::size_t race = 0; race < races.size(); ++race) {
    const std::string& board = races[race].board;
    const auto faster = racers.find({board, races[race].faster});
    const auto slower = racers.find({board, races[race].slower});
    if (faster != racers.end() && slower != racers.end()) {
      add_pairs(facts, faster->second, slower->second, race, pairs);
    }
  }
  std::set<std::size_t> paired;
  for (const TrainingPair& pair : pairs) {
    paired.insert({pair.chosen, pair.rejected});
  }
  Indices replies = all_of(facts);
  keep_if(replies, left_out, "has no decided race with another reply to its prompt",
          [&](std::size_t i) { return paired.count(i) > 0; });
  std::stable_sort(pairs.begin(), pairs.end(), [&](const TrainingPair& a, const TrainingPair& b) {
    return races[a.race].ratio_low > races[b.race].ratio_low;
  });
  take_turns(pairs, options.per_task, left_out,
             [&](const TrainingPair& pair) { return facts[pair.chosen].task; });
  return pairs;
}

Indices select_rewarded(const std::vector<TrainingFacts>& facts, LeftOut& left_out) {
  Indices chosen = all_of(facts);
  keep_if(chosen, left_out, "was not judged by its own merit",
          [&](std::size_t i) { return is_fault_of_the_reply(facts[i].verdict); });
  keep_if(chosen, left_out, "may not be ranked", [&](std::size_t i) {
    return !facts[i].unranked || facts[i].verdict != Verdict::Correct;
  });
  return chosen;
}

} // namespace winnow::store
