#include "harness/report/board_report.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "harness/report/json_table.h"
#include "store/export.h"
#include "store/leaderboard_format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

/// CSV with the members `names` of each document: "task device rank".
std::string csv_text(const json& documents, std::string_view names) {
  std::vector<JsonColumn> columns;
  for (const std::string& name : wrap_words(names, 1)) {
    columns.push_back({{name}, "", [name](const json& document) {
                         return to_valid_utf8(text_at(document, name));
                       }});
  }
  return to_csv(json_table(documents, columns));
}

/// One row per candidate, with its kernel file in the last column. A further column says what
/// speedups are against, unless all are against baseline.cu.
std::string export_csv(const json& document) {
  json rows = json::array();
  bool names_versus = false;
  for (const json& candidate : document.at("candidates")) {
    json row = candidate.at("evaluation").is_null() ? json::object() : candidate.at("evaluation");
    for (const char* name : {"speedup", "score_ns"}) {
      row[name] = row.value(name, json()) == 0 ? json() : row.value(name, json());
    }
    row.update(candidate);
    if (const json& board = candidate.at("board"); !board.is_null()) {
      row.update(board); // a rank stands beside the numbers of its row on the board
    } else if (!row["speedup"].is_null()) {
      row["flag"] = "not on the board";
    }
    names_versus = names_versus || row.contains("speedup_versus");
    if (!candidate.at("evaluation").is_null()) {
      row["speedup_versus"] = versus_at(row);
    }
    rows.push_back(std::move(row));
  }
  return csv_text(
      rows,
      fmt::format("run_id run task candidate_id parent_id origin model verdict stage rank tied "
                  "unranked flag speedup speedup_low speedup_high {}score_ns parameters "
                  "device device_name isolation evaluator_version seed evaluated_at digest "
                  "dollars detail kernel_file device_uuid driver worker",
                  names_versus ? "speedup_versus " : ""));
}

} // namespace

std::string format_leaderboard(const std::vector<store::LeaderboardRow>& rows, Format format,
                               const store::BoardFacts& facts, std::size_t columns) {
  const json document = store::leaderboard_json(rows, facts);
  if (format == Format::Table || format == Format::Markdown) {
    return board_text(document, format, columns);
  }
  if (format == Format::Csv) {
    return csv_text(document["rows"], join(store::leaderboard_columns(), " "));
  }
  return json_document(document);
}

std::string export_run(const store::RunStore& store, const store::LeaderboardQuery& query,
                       Format format) {
  const json document = store::export_document(store, query);
  return format == Format::Json  ? json_document(document)
         : format == Format::Csv ? export_csv(document)
                                 : export_markdown(document);
}

} // namespace winnow::harness
