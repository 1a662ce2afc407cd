#include "store/leaderboard_format.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "store/board_fields.h"
#include "store/board_text.h"
#include "store/json_table.h"

#include <nlohmann/json.hpp>

namespace winnow::store {

using nlohmann::json;

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

std::string csv_text(const json& documents, std::string_view names) {
  std::vector<JsonColumn> columns;
  for (const std::string& name : wrap_words(names, 1)) {
    columns.push_back({{name}, "", [name](const json& document) {
                         return to_valid_utf8(text_at(document, name));
                       }});
  }
  return to_csv(json_table(documents, columns));
}

std::string format_leaderboard(const std::vector<LeaderboardRow>& rows, Format format,
                               const BoardFacts& facts, std::size_t columns) {
  const json document = leaderboard_json(rows, facts);
  if (format == Format::Table || format == Format::Markdown) {
    return board_text(document, format, columns);
  }
  if (format == Format::Csv) {
    return csv_text(document["rows"], join(field_names<LeaderboardRow>(kBoardRow), " "));
  }
  return json_document(document);
}

} // namespace winnow::store
