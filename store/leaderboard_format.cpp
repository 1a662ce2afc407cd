#include "store/leaderboard_format.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "store/board_text.h"
#include "store/json_table.h"

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

json bound_or_null(const tasks::Bounds& bounds, double tasks::Bounds::*end) {
  return bounds.known() ? json(bounds.*end) : json(nullptr);
}

json row_json(const LeaderboardRow& row) {
  return {
      {"task", row.task},
      {"task_digest", row.task_digest},
      {"task_flags", row.task_flags},
      {"task_note", row.task_note},
      {"task_proof", row.task_proof},
      {"device", row.device},
      {"device_name", row.device_name},
      {"rank", row.rank == 0 ? json(nullptr) : json(row.rank)},
      {"unranked", row.unranked},
      {"flag", row.flag},
      {"tied", row.rank == 0 ? json(nullptr) : json(row.is_tied)},
      {"speedup", row.speedup},
      {"speedup_low", bound_or_null(row.speedup_bounds, &tasks::Bounds::low)},
      {"speedup_high", bound_or_null(row.speedup_bounds, &tasks::Bounds::high)},
      {"speedup_versus", row.speedup_versus},
      {"held_out_speedup", row.held_out_speedup > 0 ? json(row.held_out_speedup) : json(nullptr)},
      {"score_ns", row.score_ns},
      {"shapes", row.shapes},
      {"candidate_id", row.candidate},
      {"evaluation_id", row.evaluation},
      {"run_id", row.run},
      {"run", row.run_name},
      {"origin", row.origin},
      {"model", row.model.empty() ? json(nullptr) : json(row.model)},
      {"author", row.author},
      {"parameters", json::parse(row.parameters, nullptr, false)},
      {"isolation", row.isolation},
      {"digest", row.digest},
      {"lines", row.lines},
      {"evaluated_at", row.evaluated_at},
      {"evaluator_version", row.evaluator_version},
      {"findings", row.findings},
      {"dollars", row.dollars ? json(*row.dollars) : json(nullptr)}};
}

json standing_json(const BaselineStanding& standing) {
  const bool compared = standing.relative_time > 0;
  return {{"task", standing.task},
          {"task_digest", standing.task_digest},
          {"device", standing.device},
          {"device_name", standing.device_name},
          {"evaluator_version", standing.evaluator_version},
          {"name", standing.name},
          {"version", standing.version},
          {"time_versus", standing.time_versus},
          {"relative_time", compared ? json(standing.relative_time) : json(nullptr)},
          {"shapes", standing.shapes},
          {"agrees", standing.agrees},
          {"note", standing.note}};
}

json spread_json(const GpuSpread& spread) {
  return {{"task", spread.task},
          {"task_digest", spread.task_digest},
          {"device", spread.device},
          {"device_name", spread.device_name},
          {"evaluator_version", spread.evaluator_version},
          {"gpus", spread.gpus},
          {"evaluations", spread.evaluations},
          {"between", spread.between},
          {"within", spread.evaluations > spread.gpus ? json(spread.within) : json(nullptr)},
          {"note", to_string(spread)}};
}

} // namespace

bool same_group(const LeaderboardRow& a, const LeaderboardRow& b) {
  const bool ranked_apart = a.rank > 0 && b.rank > 0 && a.evaluator_version != b.evaluator_version;
  return a.task_digest == b.task_digest && a.task == b.task && a.device == b.device &&
         a.device_name == b.device_name && !ranked_apart;
}

json leaderboard_json(const std::vector<LeaderboardRow>& rows, const BoardFacts& facts) {
  json document{{"schema", "winnow.leaderboard"}, {"version", 2},
                {"rows", json::array()},          {"baselines", json::array()},
                {"gpu_spreads", json::array()},   {"summaries", json::array()},
                {"not_ranked", json::array()}};
  for (const LeaderboardRow& row : rows) {
    document["rows"].push_back(row_json(row));
  }
  for (const BaselineStanding& standing : facts.baselines) {
    document["baselines"].push_back(standing_json(standing));
  }
  for (const GpuSpread& spread : facts.gpu_spreads) {
    document["gpu_spreads"].push_back(spread_json(spread));
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
    return csv_text(document["rows"],
                    "task device device_name rank tied unranked speedup speedup_low speedup_high "
                    "score_ns candidate_id evaluation_id run_id run origin model parameters "
                    "isolation evaluated_at lines digest task_digest evaluator_version "
                    "speedup_versus shapes findings dollars held_out_speedup flag task_flags "
                    "author task_note task_proof");
  }
  return json_document(document);
}

} // namespace winnow::store
