#include "store/leaderboard_format.h"

#include "store/fields.h"

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

constexpr FieldRules kBoardRow{"kernel comparable",
                               "rank model held_out_speedup best_alternative versus_best of_light",
                               "parameters"};

} // namespace

bool same_group(const LeaderboardRow& a, const LeaderboardRow& b) {
  const bool ranked_apart = a.rank > 0 && b.rank > 0 && a.evaluator_version != b.evaluator_version;
  return a.task_digest == b.task_digest && a.task == b.task && a.device == b.device &&
         a.device_name == b.device_name && !ranked_apart;
}

json leaderboard_json(const std::vector<LeaderboardRow>& rows, const BoardFacts& facts) {
  json document{{"schema", "winnow.leaderboard"},
                {"version", 2},
                {"rows", records_json(rows, kBoardRow)},
                {"baselines", records_json(facts.baselines, {{}, "relative_time"})},
                {"gpu_spreads", records_json(facts.gpu_spreads, {"time_versus"})},
                {"summaries", json::array()},
                {"not_ranked", json::array()}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].rank == 0) {
      document["rows"][i]["tied"] = nullptr;
    }
  }
  for (std::size_t i = 0; i < facts.gpu_spreads.size(); ++i) {
    const GpuSpread& spread = facts.gpu_spreads[i];
    json& shown = document["gpu_spreads"][i];
    shown["note"] = to_string(spread);
    if (spread.evaluations <= spread.gpus) {
      shown["within"] = nullptr;
    }
  }
  for (const BoardSummary& summary : facts.summaries) {
    document["summaries"].push_back(summary_json(summary));
  }
  for (const LeftOutKernel& kernel : facts.left_out) {
    document["not_ranked"].push_back(left_out_json(kernel));
  }
  return document;
}

std::vector<std::string> leaderboard_columns() {
  return field_names<LeaderboardRow>(kBoardRow);
}

} // namespace winnow::store
