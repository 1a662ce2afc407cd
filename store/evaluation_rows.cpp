#include "store/evaluation_rows.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "store/database.h"
#include "store/fields.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

// Columns that other columns or tables have instead, or none.
constexpr FieldRules kEvaluationColumns{
    "parameters build cases hidden_race_ratio suspended profile",
    "speedup score_ns hidden_speedup seed"};
constexpr FieldRules kEvaluationRead{"build cases hidden_race_ratio suspended"};
constexpr FieldRules kBuild{"from_cache seconds", "compiler_ms load_ms"};
constexpr FieldRules kCase{"set samples_ns baseline_samples_ns incumbent_samples_ns "
                           "warm_samples_ns conditions libraries",
                           "median_ns baseline_median_ns prepare_ns speedup rms_error_ratio"};
constexpr FieldRules kCaseAsRead{"set libraries"};

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
  Query insert(database,
               insert_into<tasks::BuildRecord>("builds", "", kBuild) + " ON CONFLICT DO NOTHING");
  bind_fields(insert.bind(), build, kBuild);
  return insert.insert_or_find("SELECT id FROM builds WHERE digest = ?", build.digest);
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
  Query insert(database, insert_into<tasks::CaseResult>(
                             "cases", "evaluation_id, ordinal, shape_set, conditions", kCase));
  Query insert_series(database,
                      "INSERT INTO sample_series (case_id, kernel, times_ns) VALUES (?, ?, ?)");
  std::int64_t ordinal = 0;
  for (const tasks::CaseResult& result : cases) {
    insert.bind(evaluation, ordinal++, to_string(result.set), conditions_text(result));
    bind_fields(insert, result, kCase).run();
    const RowId case_id = database.last_insert_id();
    insert_samples(insert_series, case_id, "candidate", result.samples_ns);
    insert_samples(insert_series, case_id, "baseline", result.baseline_samples_ns);
    insert_samples(insert_series, case_id, "incumbent", result.incumbent_samples_ns);
    insert_samples(insert_series, case_id, "warm", result.warm_samples_ns);
  }
}

tasks::Evaluation read_evaluation(const Query& query) {
  auto evaluation = row_of<tasks::Evaluation>(query, kEvaluationRead);
  read_row(query, evaluation.build, kBuild);
  evaluation.build.from_cache = query.integer("build_from_cache") != 0;
  evaluation.build.seconds = query.real("build_seconds");
  return evaluation;
}

struct OwnedEvaluation {
  RowId candidate = 0;
  tasks::Evaluation evaluation;
};

tasks::CaseResult read_case(const Query& query) {
  auto result = row_of<tasks::CaseResult>(query, kCaseAsRead);
  result.set = shape_set_from_string(query.text("shape_set"));
  result.max_error_ratio = query.real("max_error_ratio");
  return result;
}

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
  static const std::string select =
      "SELECT e.id, e.candidate_id, e.build_from_cache, e.build_seconds, v.parameters, "
      "(SELECT content FROM evaluation_profiles AS p WHERE p.evaluation_id = e.id) AS profile, " +
      columns<tasks::Evaluation>(kEvaluationColumns, "e.") + ", " +
      columns<tasks::BuildRecord>(kBuild, "b.") +
      " FROM candidates AS c JOIN evaluations AS e ON e.candidate_id = c.id "
      "JOIN variants AS v ON v.id = e.variant_id "
      "LEFT JOIN builds AS b ON b.id = e.build_id WHERE ";
  Query query(database, select + of);
  query.bind(id);
  while (query.next()) {
    evaluations[query.integer("id")] = {query.integer("candidate_id"), read_evaluation(query)};
  }
  if (evaluations.empty()) {
    return evaluations;
  }
  Query cases(database, "SELECT k.evaluation_id, k.shape_set, k.conditions, " +
                            columns<tasks::CaseResult>(kCase, "k.") + ", " +
                            (with_samples ? kSeries : kNoSeries) +
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

RowId insert_evaluation(Database& database, RowId candidate, std::int64_t ordinal,
                        const tasks::Evaluation& evaluation, std::string_view request, int turns) {
  const RowId variant = insert_variant(database, candidate, evaluation.parameters);
  const std::optional<RowId> build = insert_build(database, evaluation.build);
  static const std::string sql = insert_into<tasks::Evaluation>(
      "evaluations",
      "candidate_id, variant_id, ordinal, build_id, build_from_cache, build_seconds, request, "
      "turns, kernel",
      kEvaluationColumns,
      "?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, ''), nullif(?8, 0), "
      "(SELECT sha256(k.text || v.parameters) FROM variants AS v "
      "JOIN candidates AS c ON c.id = v.candidate_id "
      "JOIN kernel_files AS k ON k.id = c.kernel_file_id WHERE v.id = ?2)");
  Query insert(database, sql);
  insert.bind(candidate, variant, ordinal, build, evaluation.build.from_cache,
              evaluation.build.seconds, request, turns);
  bind_fields(insert, evaluation, kEvaluationColumns).run();
  const RowId row = database.last_insert_id();
  insert_cases(database, row, evaluation.cases);
  insert_library_timings(database, candidate, evaluation);
  insert_profile(database, candidate, evaluation);
  return row;
}

void copy_evaluations_of(Database& database, RowId from, RowId to) {
  const auto all = read_evaluations(database, "e.asked_by = '' AND c.id = ?", from);
  std::map<RowId, RowId> copies, successors;
  for (const auto& [id, owned] : all) {
    Query row(database, "SELECT ordinal, coalesce(request, '') AS request, turns, superseded_by "
                        "FROM evaluations WHERE id = ?");
    row.bind(id).next();
    copies[id] = insert_evaluation(database, to, row.integer("ordinal"), owned.evaluation,
                                   row.text("request"), static_cast<int>(row.integer("turns")));
    successors[id] = row.integer("superseded_by");
  }
  Query supersede(database, "UPDATE evaluations SET superseded_by = ? WHERE id = ?");
  for (const auto& [id, successor] : successors) {
    if (const auto copy = copies.find(successor); copy != copies.end()) {
      supersede.bind(copy->second, copies[id]).run();
    }
  }
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

namespace {

std::vector<tasks::Evaluation> by_age(std::map<RowId, OwnedEvaluation>&& evaluations) {
  std::vector<tasks::Evaluation> all;
  for (auto& [id, owned] : evaluations) {
    all.push_back(std::move(owned.evaluation));
  }
  return all;
}

} // namespace

std::vector<tasks::Evaluation> evaluations_in_full(const Database& database, RowId candidate) {
  return by_age(
      read_evaluations(database, "e.turns IS NULL AND e.asked_by = '' AND c.id = ?", candidate));
}

std::vector<tasks::Evaluation> trials_of_candidate(const Database& database, RowId candidate) {
  return by_age(read_evaluations(database, "e.turns > 0 AND c.id = ?", candidate));
}

} // namespace winnow::store
