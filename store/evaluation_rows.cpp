#include "store/evaluation_rows.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "store/database.h"
#include "store/row_columns.h"
#include "tasks/json/json_number.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

/// nullopt for a time or ratio that was not measured: it is 0 or not finite.
std::optional<double> measured(double value) {
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

/// One end of an interval; nullopt if the interval is not known.
std::optional<double> end_of(const tasks::Bounds& bounds, double tasks::Bounds::*end) {
  const bool known = bounds.known() && std::isfinite(bounds.low) && std::isfinite(bounds.high);
  return known ? std::optional(bounds.*end) : std::nullopt;
}

/// The seed as a signed integer, because SQLite has no unsigned ones.
std::optional<std::int64_t> seed_bits(const tasks::Evaluation& evaluation) {
  return evaluation.seed == 0 ? std::nullopt
                              : std::optional(static_cast<std::int64_t>(evaluation.seed));
}

tasks::ShapeSet shape_set_from_string(std::string_view text) {
  for (const auto set : {tasks::ShapeSet::Tiny, tasks::ShapeSet::Search, tasks::ShapeSet::Promotion,
                         tasks::ShapeSet::HeldOut}) {
    if (to_string(set) == text) {
      return set;
    }
  }
  throw Error(fmt::format("the store holds a case of the unknown shape set '{}'", text),
              "read it with the Winnow that wrote it");
}

RowId insert_variant(Database& database, RowId candidate, const tasks::ParameterChoice& choice) {
  const std::string parameters = json_line(choice);
  return Query(
             database,
             "INSERT INTO variants (candidate_id, parameters) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .bind(candidate, parameters)
      .insert_or_find("SELECT id FROM variants WHERE candidate_id = ? AND parameters = ?",
                      candidate, parameters);
}

/// nullopt if nothing was compiled.
std::optional<RowId> insert_build(Database& database, const tasks::BuildRecord& build) {
  if (build.digest.empty()) {
    return std::nullopt;
  }
  return Query(database,
               "INSERT INTO builds (digest, compiler, log, architecture, machine_code_digest, "
               "kernels, "
               "findings, compiler_ms, load_ms, features) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
               "ON CONFLICT DO NOTHING")
      .bind(build.digest, build.compiler, build.log, build.architecture, build.machine_code_digest,
            json_line(build.kernels), json_line(build.findings), measured(build.compiler_ms),
            measured(build.load_ms), json_line(build.features))
      .insert_or_find("SELECT id FROM builds WHERE digest = ?", build.digest);
}

/// The key is the machine code, not the evaluation: variants and later evaluations share the newest
/// profile.
void insert_profile(Database& database, RowId candidate, const tasks::Evaluation& evaluation) {
  const tasks::BuildRecord& build = evaluation.build;
  if (evaluation.profile.empty() || build.digest.empty()) {
    return;
  }
  Query(database,
        "INSERT INTO profiles (machine_code_digest, task_id, device_name, content, recorded_at) "
        "SELECT ?1, task_id, ?2, ?3, ?4 FROM candidates WHERE id = ?5 "
        "ON CONFLICT (machine_code_digest, task_id, device_name) DO UPDATE "
        "SET content = excluded.content, recorded_at = excluded.recorded_at "
        "WHERE content <> excluded.content")
      .bind(build.machine_code_digest.empty() ? build.digest : build.machine_code_digest,
            evaluation.device_name, evaluation.profile, utc_now(), candidate)
      .run();
}

std::optional<std::string> conditions_text(const tasks::CaseResult& result) {
  return result.samples_ns.empty() ? std::nullopt : std::optional(json_line(result.conditions));
}

void insert_samples(Query& insert, RowId case_id, const char* kernel,
                    const std::vector<double>& samples) {
  if (!samples.empty()) {
    insert.bind(case_id, kernel, encode_samples(samples)).run();
  }
}

void insert_cases(Database& database, RowId evaluation,
                  const std::vector<tasks::CaseResult>& cases) {
  Query insert(database,
               "INSERT INTO cases (evaluation_id, ordinal, stage, shape_id, shape_set, shape, "
               "seed, verdict, detail, mismatch, max_error_ratio, median_ns, baseline_median_ns, "
               "prepare_ns, median_low_ns, median_high_ns, speedup, speedup_low, speedup_high, "
               "conditions) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Query insert_series(database,
                      "INSERT INTO sample_series (case_id, kernel, times_ns) VALUES (?, ?, ?)");
  std::int64_t ordinal = 0;
  using tasks::Bounds;
  for (const tasks::CaseResult& result : cases) {
    const std::optional<std::string> mismatch =
        result.mismatch ? std::optional(json_line(*result.mismatch)) : std::nullopt;
    insert
        .bind(evaluation, ordinal++, static_cast<int>(result.stage), result.shape_id,
              to_string(result.set), result.shape, static_cast<std::int64_t>(result.seed),
              static_cast<int>(result.verdict), result.detail, mismatch, result.max_error_ratio,
              measured(result.median_ns), measured(result.baseline_median_ns),
              measured(result.prepare_ns), end_of(result.median_bounds_ns, &Bounds::low),
              end_of(result.median_bounds_ns, &Bounds::high), measured(result.speedup),
              end_of(result.speedup_bounds, &Bounds::low),
              end_of(result.speedup_bounds, &Bounds::high), conditions_text(result))
        .run();
    const RowId case_id = database.last_insert_id();
    insert_samples(insert_series, case_id, "candidate", result.samples_ns);
    insert_samples(insert_series, case_id, "baseline", result.baseline_samples_ns);
    insert_samples(insert_series, case_id, "incumbent", result.incumbent_samples_ns);
    insert_samples(insert_series, case_id, "warm", result.warm_samples_ns);
  }
}

tasks::Evaluation read_evaluation(const Query& query) {
  tasks::Evaluation evaluation;
  WINNOW_READ_COLUMNS(query, evaluation, verdict, stage, detail, notes, speedup, score_ns, device,
                      device_name, isolation, evaluator_version, started_at, seconds, parameters,
                      hidden_speedup, promoted, race, profile, seed, unranked, device_uuid, driver,
                      worker);
  evaluation.speedup_bounds = read_bounds(query, "speedup");
  tasks::BuildRecord& build = evaluation.build;
  WINNOW_READ_COLUMNS(query, build, digest, compiler, log, architecture, machine_code_digest,
                      kernels, findings, compiler_ms, load_ms, features);
  build.from_cache = query.integer("build_from_cache") != 0;
  build.seconds = query.real("build_seconds");
  return evaluation;
}

struct OwnedEvaluation {
  RowId candidate = 0;
  tasks::Evaluation evaluation;
};

tasks::CaseResult read_case(const Query& query) {
  tasks::CaseResult result;
  WINNOW_READ_COLUMNS(query, result, stage, shape_id, shape, seed, verdict, detail, mismatch,
                      median_ns, baseline_median_ns, samples_ns, baseline_samples_ns,
                      incumbent_samples_ns, warm_samples_ns, prepare_ns, speedup, conditions);
  result.set = shape_set_from_string(query.text("shape_set"));
  result.max_error_ratio = query.real("max_error_ratio");
  result.median_bounds_ns = read_bounds(query, "median", "_ns");
  result.speedup_bounds = read_bounds(query, "speedup");
  return result;
}

constexpr const char* kSelectCases =
    "SELECT k.evaluation_id, k.stage, k.shape_id, k.shape_set, k.shape, k.seed, k.verdict, "
    "k.detail, k.mismatch, k.max_error_ratio, k.median_ns, k.baseline_median_ns, k.prepare_ns, "
    "k.median_low_ns, k.median_high_ns, k.speedup, k.speedup_low, k.speedup_high, k.conditions, ";
constexpr const char* kSeries =
    "s.times_ns AS samples_ns, b.times_ns AS baseline_samples_ns, "
    "i.times_ns AS incumbent_samples_ns, w.times_ns AS warm_samples_ns ";
constexpr const char* kNoSeries = "NULL AS samples_ns, NULL AS baseline_samples_ns, "
                                  "NULL AS incumbent_samples_ns, NULL AS warm_samples_ns ";
constexpr const char* kJoinSeries =
    "LEFT JOIN sample_series AS s ON s.case_id = k.id AND s.kernel = 'candidate' "
    "LEFT JOIN sample_series AS b ON b.case_id = k.id AND b.kernel = 'baseline' "
    "LEFT JOIN sample_series AS i ON i.case_id = k.id AND i.kernel = 'incumbent' "
    "LEFT JOIN sample_series AS w ON w.case_id = k.id AND w.kernel = 'warm' ";

/// `of`: a condition on the candidate c and its evaluation e, with `id` for its placeholder. By
/// evaluation.
std::map<RowId, OwnedEvaluation> read_evaluations(const Database& database, const std::string& of,
                                                  RowId id, bool with_samples = true) {
  std::map<RowId, OwnedEvaluation> evaluations;
  Query query(
      database,
      "SELECT e.id, e.candidate_id, e.verdict, e.stage, e.detail, e.notes, e.speedup, "
      "e.score_ns, e.device, e.device_name, e.isolation, e.evaluator_version, "
      "e.build_from_cache, e.build_seconds, e.started_at, e.seconds, v.parameters, "
      "b.digest, b.compiler, b.log, b.architecture, b.machine_code_digest, b.kernels, "
      "b.findings, b.compiler_ms, b.load_ms, e.hidden_speedup, e.promoted, "
      "e.speedup_low, e.speedup_high, e.race, "
      "(SELECT content FROM evaluation_profiles AS p WHERE p.evaluation_id = e.id) AS profile, "
      "e.seed, e.unranked, b.features, e.device_uuid, e.driver, e.worker "
      "FROM candidates AS c JOIN evaluations AS e ON e.candidate_id = c.id "
      "JOIN variants AS v ON v.id = e.variant_id "
      "LEFT JOIN builds AS b ON b.id = e.build_id WHERE " +
          of);
  query.bind(id);
  while (query.next()) {
    evaluations[query.integer("id")] = {query.integer("candidate_id"), read_evaluation(query)};
  }
  if (evaluations.empty()) {
    return evaluations;
  }
  Query cases(database, std::string(kSelectCases) + (with_samples ? kSeries : kNoSeries) +
                            "FROM candidates AS c "
                            "JOIN evaluations AS e ON e.candidate_id = c.id "
                            "JOIN cases AS k ON k.evaluation_id = e.id " +
                            (with_samples ? kJoinSeries : "") + "WHERE " + of +
                            " ORDER BY k.evaluation_id, k.ordinal");
  cases.bind(id);
  while (cases.next()) {
    evaluations.at(cases.integer("evaluation_id")).evaluation.cases.push_back(read_case(cases));
  }
  return evaluations;
}

} // namespace

std::string encode_samples(const std::vector<double>& samples) {
  json values = json::array();
  for (const double sample : samples) {
    values.push_back(tasks::number_json(sample));
  }
  return json_line(values);
}
std::vector<double> decode_samples(const std::string& text) {
  std::vector<double> samples;
  for (const json& value : json::parse(text)) {
    samples.push_back(tasks::number_of(value));
  }
  return samples;
}

RowId insert_evaluation(Database& database, RowId candidate, std::int64_t ordinal,
                        const tasks::Evaluation& evaluation, std::string_view request, int turns) {
  const RowId variant = insert_variant(database, candidate, evaluation.parameters);
  const std::optional<RowId> build = insert_build(database, evaluation.build);
  const std::optional<std::string> race =
      evaluation.race ? std::optional(json_line(*evaluation.race)) : std::nullopt;
  Query(
      database,
      "INSERT INTO evaluations (candidate_id, variant_id, ordinal, verdict, stage, detail, "
      "notes, speedup, score_ns, device, device_name, isolation, evaluator_version, build_id, "
      "build_from_cache, build_seconds, started_at, seconds, hidden_speedup, promoted, "
      "speedup_low, speedup_high, race, seed, unranked, device_uuid, driver, worker, request, "
      "turns, kernel) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "nullif(?, ''), nullif(?, 0), "
      "(SELECT sha256(k.text || v.parameters) FROM variants AS v "
      "JOIN candidates AS c ON c.id = v.candidate_id "
      "JOIN kernel_files AS k ON k.id = c.kernel_file_id WHERE v.id = ?2))")
      .bind(candidate, variant, ordinal, static_cast<int>(evaluation.verdict),
            static_cast<int>(evaluation.stage), evaluation.detail, json_line(evaluation.notes),
            measured(evaluation.speedup), measured(evaluation.score_ns), evaluation.device,
            evaluation.device_name, evaluation.isolation, evaluation.evaluator_version, build,
            evaluation.build.from_cache, evaluation.build.seconds, evaluation.started_at,
            evaluation.seconds, measured(evaluation.hidden_speedup), evaluation.promoted,
            end_of(evaluation.speedup_bounds, &tasks::Bounds::low),
            end_of(evaluation.speedup_bounds, &tasks::Bounds::high), race, seed_bits(evaluation),
            evaluation.unranked, evaluation.device_uuid, evaluation.driver, evaluation.worker,
            request, turns)
      .run();
  const RowId row = database.last_insert_id();
  insert_cases(database, row, evaluation.cases);
  insert_library_timings(database, candidate, evaluation);
  insert_profile(database, candidate, evaluation);
  return row;
}

std::map<RowId, tasks::Evaluation> evaluations_of_run(const Database& database, RowId run) {
  std::map<RowId, tasks::Evaluation> by_candidate;
  for (auto& [id, owned] : read_evaluations(database, "e.ordinal = 0 AND c.run_id = ?", run)) {
    by_candidate[owned.candidate] = std::move(owned.evaluation);
  }
  return by_candidate;
}

std::optional<tasks::Evaluation> evaluation_of_candidate(const Database& database,
                                                         RowId candidate) {
  auto found = read_evaluations(database, "e.ordinal = 0 AND c.id = ?", candidate);
  return found.empty() ? std::nullopt : std::optional(std::move(found.begin()->second.evaluation));
}

std::optional<tasks::Evaluation> evaluation_without_samples(const Database& database,
                                                            RowId candidate) {
  auto found = read_evaluations(database, "e.ordinal = 0 AND c.id = ?", candidate, false);
  return found.empty() ? std::nullopt : std::optional(std::move(found.begin()->second.evaluation));
}

std::vector<tasks::Evaluation> trials_of_candidate(const Database& database, RowId candidate) {
  std::vector<tasks::Evaluation> trials;
  for (auto& [id, owned] : read_evaluations(database, "e.turns > 0 AND c.id = ?", candidate)) {
    trials.push_back(std::move(owned.evaluation));
  }
  return trials;
}

} // namespace winnow::store
