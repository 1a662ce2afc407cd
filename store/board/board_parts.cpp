#include "store/board/board_parts.h"

#include "base/json_dump.h"
#include "base/packing.h"
#include "base/text.h"
#include "store/board/query_json.h"
#include "store/fields.h"
#include "tasks/result/speedup.h"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

constexpr std::size_t kChunkBytes = 256UL * 1024; ///< unpacked, about

/// The sets of shapes that may leave the machine in full.
#define WINNOW_SHOWN_SETS "('tiny', 'search')"

constexpr const char* kEvaluation =
    "SELECT o.evaluation_id, o.detail, e.notes, o.parameters, o.compiler, o.build_from_cache, "
    "o.build_seconds, o.seconds, o.seed, o.request, o.evaluator_version, b.log, b.architecture, "
    "b.digest AS build_digest, b.machine_code_digest, b.kernels, b.findings, b.features, o.race, "
    "o.isolation, e.promoted, o.superseded_by, o.device_uuid, o.driver, o.worker "
    "FROM evaluation_overview AS o JOIN evaluations AS e ON e.id = o.evaluation_id "
    "LEFT JOIN builds AS b ON b.id = e.build_id WHERE o.candidate_id = ? AND o.ordinal = 0";
constexpr const char* kCases =
    "SELECT case_id, stage, shape_set, shape_id, shape, seed, verdict, detail, mismatch, "
    "max_error_ratio, median_ns, median_low_ns, median_high_ns, baseline_median_ns, speedup, "
    "speedup_low, speedup_high, conditions FROM case_overview "
    "WHERE evaluation_id = ? AND shape_set IN " WINNOW_SHOWN_SETS " ORDER BY case_id";
constexpr const char* kHidden =
    "SELECT shape_set, verdict, count(*) AS cases FROM case_overview WHERE evaluation_id = ? "
    "AND shape_set NOT IN " WINNOW_SHOWN_SETS " GROUP BY shape_set, verdict";

/// A text that is no kernel file is the model's whole reply.
constexpr const char* kKernel =
    "SELECT k.text FROM candidates AS c JOIN candidate_overview AS o ON o.candidate_id = c.id "
    "JOIN kernel_files AS k ON k.id = c.kernel_file_id WHERE c.id = ? "
    "AND (c.origin <> 'model' OR o.verdict NOT IN ('not_judged', 'bad_reply'))";

constexpr const char* kSamples =
    "SELECT s.case_id, s.kernel, s.times_ns FROM evaluations AS e "
    "JOIN cases AS k ON k.evaluation_id = e.id JOIN sample_series AS s ON s.case_id = k.id "
    "WHERE e.candidate_id = ? AND e.ordinal = 0 AND k.shape_set IN " WINNOW_SHOWN_SETS
    " ORDER BY s.case_id, s.kernel";

constexpr const char* kCall = "SELECT m.id, m.reply FROM candidates AS c "
                              "JOIN model_calls AS m ON m.id = c.call_id WHERE c.id = ?";
constexpr const char* kMessages =
    "SELECT role, text FROM call_messages WHERE call_id = ? ORDER BY position";

std::string quoted(const std::string& text) {
  return json_line(to_valid_utf8(text));
}

} // namespace

CandidateReader::CandidateReader(const Database& database)
    : evaluation_(database, kEvaluation), cases_(database, kCases), hidden_(database, kHidden),
      kernel_(database, kKernel), samples_(database, kSamples), call_(database, kCall),
      messages_(database, kMessages) {}

std::string CandidateReader::result(RowId candidate) {
  if (!evaluation_.bind(candidate).next()) {
    return "";
  }
  json result = object_json(evaluation_);
  const std::int64_t evaluation = evaluation_.integer("evaluation_id");
  result["cases"] = objects_json(cases_.bind(evaluation));
  result["hidden"] = objects_json(hidden_.bind(evaluation));
  return json_line(result);
}

std::string CandidateReader::kernel_file(RowId candidate) {
  return kernel_.bind(candidate).next() ? quoted(kernel_.text("text")) : "";
}

std::string CandidateReader::samples(RowId candidate) {
  std::string text;
  std::int64_t last = 0;
  samples_.bind(candidate);
  while (samples_.next()) {
    const std::int64_t id = samples_.integer("case_id");
    text += id == last ? "," : fmt::format("{}\"{}\":{{", text.empty() ? "{" : "},", id);
    text += quoted(samples_.text("kernel")) + ":" + samples_.text("times_ns");
    last = id;
  }
  return text.empty() ? "" : text + "}}";
}

std::string CandidateReader::conversation(RowId candidate) {
  if (!call_.bind(candidate).next()) {
    return "";
  }
  const json messages = objects_json(messages_.bind(call_.integer("id")));
  return fmt::format(R"({{"messages":{},"reply":{}}})", json_line(messages),
                     quoted(call_.text("reply")));
}

std::optional<std::vector<BoardChunk>> pack_part(const BoardPart& part, std::size_t max_bytes) {
  std::vector<BoardChunk> chunks;
  std::size_t bytes = 0;
  std::string text;
  RowId first = 0;
  const auto pack = [&](RowId last) {
    if (!text.empty()) {
      chunks.push_back({part.name, first, last, base64(gzip("{" + text + "}"))});
      bytes += chunks.back().packed.size();
      text.clear();
    }
  };
  for (const RowId candidate : part.candidates) {
    const std::string value = part.value(candidate);
    if (value.empty()) {
      continue;
    }
    if (text.empty()) {
      first = candidate;
    }
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", candidate, value);
    if (text.size() >= kChunkBytes) {
      pack(candidate);
    }
    if (bytes > max_bytes) {
      return std::nullopt;
    }
  }
  pack(part.candidates.empty() ? 0 : part.candidates.back());
  return bytes > max_bytes ? std::nullopt : std::optional(std::move(chunks));
}

namespace {

/// SQLite takes the other columns from the row that has the maximum.
constexpr const char* kBestKernels =
    "SELECT coalesce(o.model, o.origin) AS model, o.task, max(e.speedup) AS speedup, "
    "e.speedup_low, e.speedup_high FROM candidate_overview AS o "
    "JOIN evaluations AS e ON e.candidate_id = o.candidate_id AND e.ordinal = 0 "
    "WHERE o.origin = 'model' AND o.verdict = 'correct' AND e.speedup > 0 "
    "AND ?1 IN ('', o.run) AND ?2 IN ('', o.task) AND ?3 IN ('', e.device) GROUP BY 1, 2";

nlohmann::json mean_of(const std::string& model, const std::vector<tasks::Speedup>& speedups) {
  const tasks::Speedup mean = tasks::mean_speedup(speedups);
  const bool bounded = mean.bounds.known();
  return {{"model", model},
          {"tasks", speedups.size()},
          {"mean_speedup", mean.value},
          {"mean_speedup_low", bounded ? nlohmann::json(mean.bounds.low) : nlohmann::json()},
          {"mean_speedup_high", bounded ? nlohmann::json(mean.bounds.high) : nlohmann::json()}};
}

} // namespace

nlohmann::json model_means(const Database& database, const LeaderboardQuery& query) {
  std::map<std::string, std::vector<tasks::Speedup>> speedups;
  Query best(database, kBestKernels);
  best.bind(query.run, query.task, query.device);
  while (best.next()) {
    tasks::Speedup& speedup = speedups[best.text("model")].emplace_back();
    speedup.value = best.real("speedup");
    read_column(best, "speedup_low", speedup.bounds.low);
    read_column(best, "speedup_high", speedup.bounds.high);
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [model, of_tasks] : speedups) {
    list.push_back(mean_of(model, of_tasks));
  }
  return list;
}

} // namespace winnow::store
