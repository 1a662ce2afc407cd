#include "store/advice.h"

#include "store/fields.h"
#include "store/run_store.h"

namespace winnow::store {
namespace {

constexpr const char* kScores =
    "FROM advice_scores AS s JOIN advice AS a ON a.call_id = s.call_id "
    "JOIN model_calls AS m ON m.id = a.call_id JOIN tasks AS t ON t.id = m.task_id "
    "WHERE m.run_id = ? AND a.role = ? AND ? IN ('', t.name)";

constexpr const char* kSelectLessons =
    "SELECT p.id AS parent, c.id AS child, t.name AS task, e.speedup / f.speedup AS gain, "
    "coalesce(e.speedup_low, e.speedup) / coalesce(f.speedup_high, f.speedup) AS gain_low, "
    "coalesce(e.speedup_high, e.speedup) / coalesce(f.speedup_low, f.speedup) AS gain_high "
    "FROM eligible_evaluations AS e JOIN candidates AS c ON c.id = e.candidate_id "
    "JOIN candidates AS p ON p.id = c.parent_id "
    "JOIN eligible_evaluations AS f ON f.candidate_id = p.id "
    "JOIN tasks AS t ON t.id = c.task_id "
    "WHERE c.origin = 'model' AND c.run_id <> ? AND t.name <> ? AND e.device_name = ? "
    "AND e.evaluator_version = ? AND f.device_name = e.device_name "
    "AND f.evaluator_version = e.evaluator_version AND gain > 1.05 "
    "ORDER BY gain DESC, c.id LIMIT ?";

/// Throws Error if the run has no such call.
RowId call_with_key(const Database& database, RowId run, std::string_view key) {
  Query query(database, "SELECT id FROM model_calls WHERE run_id = ? AND key = ?");
  if (!query.bind(run, key).next()) {
    throw Error("the store has no call '" + std::string(key) + "' of this run",
                "the store was changed by hand; start a new run");
  }
  return query.integer("id");
}

/// `which`: the text after WHERE; the values are bound in order.
template <typename... Values>
std::optional<AdviceRow> first_advice(const Database& database, const char* which,
                                      const Values&... values) {
  Query query(database, std::string("SELECT m.key, a.role, a.candidate_id AS candidate, a.content, "
                                    "a.problem FROM advice AS a "
                                    "JOIN model_calls AS m ON m.id = a.call_id WHERE ") +
                            which);
  if (!query.bind(values...).next()) {
    return std::nullopt;
  }
  return row_of<AdviceRow>(query, {.json_text = "content"});
}

} // namespace

void RunStore::add_advice(RowId run, const AdviceRow& advice) {
  database_.write([&] {
    const auto about = advice.candidate != 0 ? std::optional(advice.candidate) : std::nullopt;
    Query(database_, "INSERT INTO advice (call_id, role, candidate_id, content, problem) "
                     "VALUES (?, ?, ?, nullif(?, ''), ?) ON CONFLICT DO NOTHING")
        .bind(call_with_key(database_, run, advice.key), advice.role, about, advice.content,
              advice.problem)
        .run();
  });
}

void RunStore::add_advice_scores(RowId run, std::string_view key,
                                 const std::vector<AdviceScore>& scores) {
  database_.write([&] {
    const RowId call = call_with_key(database_, run, key);
    constexpr FieldRules kScore{"candidate"};
    Query insert(database_,
                 insert_into<AdviceScore>("advice_scores", "call_id, candidate_id", kScore) +
                     " ON CONFLICT DO NOTHING");
    for (const AdviceScore& score : scores) {
      bind_fields(insert.bind(call, score.candidate), score, kScore).run();
    }
  });
}

void RunStore::add_forecast_score(RowId run, std::string_view key, const ForecastRow& score) {
  database_.write([&] {
    Query insert(database_, insert_into<ForecastRow>("forecast_scores", "call_id") +
                                " ON CONFLICT DO NOTHING");
    bind_fields(insert.bind(call_with_key(database_, run, key)), score).run();
  });
}

void RunStore::add_prompt_arm(RowId candidate, std::string_view variant, bool memory, bool exemplar,
                              double gain) {
  database_.write([&] {
    Query(database_, "INSERT INTO prompt_arms (candidate_id, variant, memory, exemplar, gain) "
                     "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
        .bind(candidate, variant, memory, exemplar, gain)
        .run();
  });
}

std::optional<AdviceRow> RunStore::find_advice(RowId run, std::string_view key) const {
  return database_.read(
      [&] { return first_advice(database_, "m.run_id = ? AND m.key = ?", run, key); });
}

std::optional<AdviceRow> RunStore::advice_about(RowId candidate, std::string_view role) const {
  return database_.read([&] {
    return first_advice(database_, "a.candidate_id = ? AND a.role = ? ORDER BY a.call_id DESC",
                        candidate, role);
  });
}

std::vector<RoleTotals> role_totals(const RunStore& store, RowId run) {
  return store.read([&](const Database& database) {
    Query query(database,
                "SELECT role, sum(calls) AS calls, sum(useful) AS useful, "
                "sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens, "
                "sum(dollars) AS dollars, sum(calls_without_price) AS calls_without_price, "
                "sum(scored) AS scored, sum(correct) AS correct "
                "FROM role_overview WHERE run_id = ? GROUP BY role ORDER BY role");
    return rows_of<RoleTotals>(query.bind(run));
  });
}

JudgeRecord judge_record(const RunStore& store, RowId run, const std::string& task) {
  JudgeRecord record;
  std::vector<double> errors;
  store.read([&](const Database& database) {
    Query query(database,
                std::string("SELECT s.is_right, abs(s.predicted - s.actual) AS error ") + kScores);
    query.bind(run, "judge", task);
    while (query.next()) {
      ++record.scored;
      record.correct += query.integer("is_right");
      errors.push_back(query.real("error"));
    }
  });
  record.median_error = errors.empty() ? 0 : tasks::median(errors);
  return record;
}

VerifierRecord verifier_record(const RunStore& store, RowId run, const std::string& task) {
  VerifierRecord record;
  store.read([&](const Database& database) {
    Query query(database, std::string("SELECT total(s.predicted = 0 AND s.actual = 0) AS "
                                      "accepted_correct, total(s.predicted = 0 AND s.actual = 1) "
                                      "AS accepted_failed, total(s.predicted = 1 AND s.actual = 0) "
                                      "AS audited_correct, total(s.predicted = 1 AND s.actual = 1) "
                                      "AS audited_failed ") +
                              kScores);
    query.bind(run, "verifier", task).next();
    read_row(query, record, {"rejected"});
    Query rejected(database,
                   "SELECT count(*) AS rejected FROM advice AS a "
                   "JOIN model_calls AS m ON m.id = a.call_id JOIN tasks AS t ON t.id = m.task_id "
                   "WHERE m.run_id = ? AND a.role = 'verifier' AND ? IN ('', t.name) "
                   "AND json_extract(a.content, '$.verdict') = 'reject'");
    rejected.bind(run, task).next();
    record.rejected = rejected.integer("rejected");
  });
  return record;
}

ForecastRecord forecast_record(const RunStore& store, RowId run, const std::string& task) {
  ForecastRecord record;
  store.read([&](const Database& database) {
    Query query(database,
                "SELECT count(score) AS measured, total(is_left_out) AS left_out, "
                "avg(score) AS score, avg(model_free) AS model_free, "
                "total(is_audit) AS audited, total(is_audit AND beats_best) AS "
                "audited_beat FROM forecast_overview WHERE run_id = ? AND ? IN ('', task)");
    query.bind(run, task).next();
    read_row(query, record);
  });
  return record;
}

std::vector<StoredForecast> forecasts(const RunStore& store, RowId run) {
  std::vector<StoredForecast> all;
  store.read([&](const Database& database) {
    Query query(database, "SELECT key, candidate_id AS candidate, content, is_left_out, "
                          "score IS NOT NULL AS is_scored, ratio, score, model_free, chance, "
                          "is_audit, beats_best FROM forecast_overview WHERE run_id = ? "
                          "ORDER BY candidate_id");
    query.bind(run);
    while (query.next()) {
      StoredForecast& forecast = all.emplace_back();
      read_row(query, forecast, {.left_out = "score", .json_text = "content"});
      if (query.integer("is_scored") != 0) {
        read_row(query, forecast.score.emplace());
      }
    }
  });
  return all;
}

std::vector<PromptArmTotals> prompt_arm_totals(const RunStore& store, RowId run, PromptArms arms,
                                               const std::string& task) {
  const std::string column = arms == PromptArms::Memory ? "p.memory" : "p.exemplar";
  const std::string arm = arms == PromptArms::Variant
                              ? "p.variant"
                              : "CASE WHEN " + column + " THEN 'with' ELSE 'without' END";
  return store.read([&](const Database& database) {
    Query query(
        database,
        "SELECT " + arm +
            " AS arm, count(*) AS children, avg(p.gain) AS mean_gain, "
            "CASE WHEN count(*) > 1 THEN max(0.0, (sum(p.gain * p.gain) - "
            "sum(p.gain) * sum(p.gain) / count(*)) / (count(*) - 1)) ELSE 0.0 END AS variance "
            "FROM prompt_arms AS p JOIN candidates AS c ON c.id = p.candidate_id "
            "JOIN tasks AS t ON t.id = c.task_id WHERE c.run_id = ? AND ? IN ('', t.name) "
            "GROUP BY arm ORDER BY arm");
    return rows_of<PromptArmTotals>(query.bind(run, task));
  });
}

std::vector<Lesson> lessons(const RunStore& store, RowId run, const std::string& task,
                            const std::string& device_name, std::int64_t evaluator_version,
                            std::int64_t most) {
  return store.read([&](const Database& database) {
    Query query(database, kSelectLessons);
    return rows_of<Lesson>(query.bind(run, task, device_name, evaluator_version, most));
  });
}

} // namespace winnow::store
