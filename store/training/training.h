#pragma once

#include "store/run_store.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::store {

/// What the lines of an export for training are.
enum class TrainingSelection : std::uint8_t {
  Supervised,  ///< replies to learn from
  Preferences, ///< two replies to one prompt, of which a race told the faster
  Rewards      ///< every reply that was judged, with a reward
};

/// What a model thought, and what it answered then.
struct TrainingReply {
  std::string reasoning, answer;
};

struct TrainingOptions {
  LeaderboardQuery query; ///< `top` is ignored
  TrainingSelection selection = TrainingSelection::Supervised;
  double above = 1;                ///< supervised: the least speedup_low, itself left out
  std::size_t per_task = 100;      ///< supervised, preferences: lines for each task; 0: all
  std::vector<std::string> secret; ///< a line that contains one of these texts is left out
  std::function<TrainingReply(std::string_view reply)> split;
};

/// Why replies, or pairs of them, are not among the lines.
using LeftOut = std::vector<std::pair<std::string, std::size_t>>;

struct TrainingSummary {
  std::size_t replies = 0; ///< of models, that the query asks for
  std::size_t lines = 0, tasks = 0;
  LeftOut left_out;
};

/// Gives one JSON object after another to `line`, schema "winnow.training", version 1. Each is a
/// line without its end. All of it may leave the machine: verdicts have no detail, of hidden and
/// held-out shapes there is nothing else.
TrainingSummary write_training(const RunStore& store, const TrainingOptions& options,
                               const std::function<void(std::string_view)>& line);

} // namespace winnow::store
