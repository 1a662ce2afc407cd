// The RunStore methods for what commands measure because somebody asks, and for what a candidate's
// record has of it.
#include "base/error.h"
#include "store/candidate_record.h"
#include "store/evaluation_rows.h"
#include "store/fields.h"
#include "store/run_store.h"

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

/// Of the newest final, which keeps each race from both sides, and of `winnow race` from both
/// sides: above 1 this kernel is faster. The races of a judgement are those of this kernel as the
/// challenger, because only its digest has an index.
constexpr const char* kRacesOfCandidate =
    "WITH own AS (SELECT e.kernel, c.task_id, e.device_name FROM evaluations AS e "
    "JOIN candidates AS c ON c.id = e.candidate_id WHERE e.candidate_id = ? AND e.ordinal = 0), "
    "found AS (SELECT 'when judged' AS source, r.kernel, r.rival, r.verdict, r.ratio, r.ratio_low, "
    "r.ratio_high, r.raced_at FROM own CROSS JOIN all_races AS r ON r.kernel = own.kernel "
    "AND r.task_id = own.task_id AND r.device_name = own.device_name AND r.sitting_id IS NULL "
    "UNION ALL SELECT 'final', r.kernel, r.rival, r.verdict, r.ratio, r.ratio_low, r.ratio_high, "
    "r.raced_at FROM own CROSS JOIN all_races AS r ON own.kernel IN (r.kernel, r.rival) "
    "AND (r.kernel = own.kernel OR NOT EXISTS (SELECT 1 FROM all_races AS m "
    "WHERE m.sitting_id = r.sitting_id AND m.kernel = own.kernel AND m.rival = r.kernel)) "
    "AND r.sitting_id = (SELECT max(s.id) FROM sittings AS s "
    "JOIN sitting_rows AS f ON f.sitting_id = s.id WHERE f.kernel = own.kernel "
    "AND s.task_id = own.task_id AND s.device_name = own.device_name) "
    "UNION ALL SELECT 'asked for', r.kernel, r.rival, r.verdict, r.ratio, r.ratio_low, "
    "r.ratio_high, r.raced_at FROM own CROSS JOIN asked_races AS r "
    "ON own.kernel IN (r.kernel, r.rival) AND r.task_id = own.task_id "
    "AND r.device_name = own.device_name) "
    "SELECT f.source, f.verdict, f.ratio, f.ratio_low, f.ratio_high, f.raced_at, "
    "f.kernel <> own.kernel AS turned, (SELECT min(e.candidate_id) FROM evaluations AS e "
    "JOIN candidates AS c ON c.id = e.candidate_id WHERE c.task_id = own.task_id "
    "AND e.kernel = CASE f.kernel WHEN own.kernel THEN f.rival ELSE f.kernel END) AS rival_id "
    "FROM own CROSS JOIN found AS f ORDER BY f.raced_at DESC";

std::string turned_verdict(const std::string& verdict) {
  return verdict == "faster"                   ? "slower"
         : verdict == "slower"                 ? "faster"
         : verdict == "not shown to be faster" ? "not shown to be slower"
                                               : verdict;
}

RaceOfCandidate read_race(const Query& query) {
  auto race = row_of<RaceOfCandidate>(query);
  if (query.integer("turned") != 0) {
    race.verdict = turned_verdict(race.verdict);
    race.ratio = race.ratio > 0 ? 1 / race.ratio : 0;
    race.ratio_bounds = race.ratio_bounds.known() && race.ratio_bounds.low > 0
                            ? tasks::Bounds{1 / race.ratio_bounds.high, 1 / race.ratio_bounds.low}
                            : tasks::Bounds{};
  }
  return race;
}

} // namespace

std::vector<RaceOfCandidate> races_of_candidate(const Database& database, RowId candidate) {
  Query query(database, kRacesOfCandidate);
  query.bind(candidate);
  std::vector<RaceOfCandidate> races;
  while (query.next()) {
    races.push_back(read_race(query));
  }
  return races;
}

std::vector<Measurement> measurements_of_candidate(const Database& database, RowId candidate) {
  Query query(
      database,
      "SELECT e.asked_by, e.started_at AS measured_at, v.parameters, e.speedup, e.speedup_low, "
      "e.speedup_high, e.score_ns FROM evaluations AS e "
      "JOIN variants AS v ON v.id = e.variant_id "
      "WHERE e.candidate_id = ? AND e.asked_by <> '' ORDER BY e.id");
  return rows_of<Measurement>(query.bind(candidate));
}

std::optional<RowId> RunStore::candidate_with_file(RowId task, std::string_view digest,
                                                   RowId preferred) const {
  return database_.read([&]() -> std::optional<RowId> {
    Query query(database_, "SELECT c.id FROM candidates AS c "
                           "JOIN kernel_files AS k ON k.id = c.kernel_file_id "
                           "WHERE c.task_id = ? AND k.digest = ? ORDER BY c.id <> ?, c.id LIMIT 1");
    return query.bind(task, digest, preferred).next() ? std::optional(query.integer("id"))
                                                      : std::nullopt;
  });
}

void RunStore::add_measurement(RowId candidate, tasks::Evaluation evaluation,
                               std::string_view asked_by) {
  evaluation.race.reset(); // no board rests on a race that somebody asked for
  database_.write([&] {
    Query next(database_, "SELECT coalesce(max(ordinal) + 1, 0) AS next FROM evaluations "
                          "WHERE candidate_id = ?");
    next.bind(candidate).next();
    const RowId row =
        insert_evaluation(database_, candidate, next.integer("next"), evaluation, "", 0);
    Query(database_, "UPDATE evaluations SET asked_by = ? WHERE id = ?").bind(asked_by, row).run();
  });
}

void RunStore::add_ceilings(const StoredCeilings& ceilings) {
  database_.write([&] {
    Query insert(database_,
                 insert_into<StoredCeilings>("ceilings", "") + " ON CONFLICT DO NOTHING");
    bind_fields(insert.bind(), ceilings).run();
  });
}

std::vector<StoredCeilings> RunStore::ceilings() const {
  return database_.read([&] {
    Query query(database_, "SELECT " + columns<StoredCeilings>() + " FROM ceilings ORDER BY id");
    return rows_of<StoredCeilings>(query, {.json_text = "content"});
  });
}

void RunStore::add_race(RowId task, const std::string& kernel,
                        const tasks::Evaluation& evaluation) {
  if (!evaluation.race) {
    throw Error("the evaluation has no race to store");
  }
  const tasks::RaceResult& race = *evaluation.race;
  const auto bound = [&](double end) {
    return race.bounds.known() ? std::optional(end) : std::nullopt;
  };
  database_.write([&] {
    Query(database_,
          "INSERT INTO asked_races (task_id, device_name, evaluator_version, kernel, rival, "
          "verdict, ratio, ratio_low, ratio_high, blocks, raced_at) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(task, evaluation.device_name, evaluation.evaluator_version, kernel, race.rival,
              race.verdict, race.ratio.value_or(0), bound(race.bounds.low), bound(race.bounds.high),
              race.blocks, evaluation.started_at)
        .run();
  });
}

} // namespace winnow::store
