// Which replies are worth learning from. Pure functions, without the store.
#pragma once

#include "store/training/training.h"
#include "tasks/result/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace winnow::store {

/// What decides whether a reply is exported.
struct TrainingFacts {
  RowId candidate = 0;
  std::string task;  ///< name
  std::string board; ///< task revision, device and evaluator, which must be equal to compare speeds
  std::int64_t prompt = 0;  ///< equal for replies to the same messages
  std::string kernel, code; ///< digests: of file and parameters, of the machine code
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  tasks::Stage stage = tasks::Stage::Parse; ///< the last one that was reached
  bool promoted = false;
  bool unranked = false; ///< its speed could be a memory of its inputs
  double speedup = 0, speedup_low = 0, speedup_high = 0; ///< 0: not timed
  std::int64_t tokens = 0;                               ///< of the reply with its reasoning, about
};

/// A race of two kernels that was decided.
struct DecidedRace {
  std::string board;                               ///< TrainingFacts::board
  std::string faster, slower;                      ///< TrainingFacts::kernel
  double ratio = 0, ratio_low = 0, ratio_high = 0; ///< time of `slower` / time of `faster`
};

struct TrainingPair {
  std::size_t chosen = 0, rejected = 0; ///< indices of the facts
  std::size_t race = 0;
};

/// A reward and what it consists of. Each term is 0 or 1, but for the speedup.
struct TrainingReward {
  bool has_kernel = false, compiled = false, correct = false;
  double speedup_low = 0;
  double value() const; ///< 0 unless correct, else 0.3 + speedup_low
};

/// The indices of the replies to learn from, the tasks by turns. Adds the reasons to `left_out`.
std::vector<std::size_t> select_supervised(const std::vector<TrainingFacts>& facts,
                                           const TrainingOptions& options, LeftOut& left_out);

/// The pairs of correct replies to one prompt, the clearest races first, the tasks by turns.
std::vector<TrainingPair> select_pairs(const std::vector<TrainingFacts>& facts,
                                       const std::vector<DecidedRace>& races,
                                       const TrainingOptions& options, LeftOut& left_out);

/// The indices of the replies that were judged by their own merit.
std::vector<std::size_t> select_rewarded(const std::vector<TrainingFacts>& facts,
                                         LeftOut& left_out);

TrainingReward reward_of(const TrainingFacts& facts);

} // namespace winnow::store
