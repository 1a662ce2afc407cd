// The RunStore methods for facts that belong to a device and to no run: ceilings, and asked races.
#include "base/error.h"
#include "store/fields.h"
#include "store/run_store_state.h"

namespace winnow::store {

void RunStore::add_ceilings(const StoredCeilings& ceilings) {
  Database& database = state_->database;
  database.write([&] {
    Query insert(database, insert_into<StoredCeilings>("ceilings", "") + " ON CONFLICT DO NOTHING");
    bind_fields(insert.bind(), ceilings).run();
  });
}

std::vector<StoredCeilings> RunStore::ceilings() const {
  Database& database = state_->database;
  return database.read([&] {
    Query query(database, "SELECT " + columns<StoredCeilings>() + " FROM ceilings ORDER BY id");
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
  Database& database = state_->database;
  database.write([&] {
    Query(database,
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
