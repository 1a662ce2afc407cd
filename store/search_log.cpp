// The RunStore methods for the log of a search, and for transactions over several methods.
#include "base/text.h"
#include "store/fields.h"
#include "store/run_store_state.h"

namespace winnow::store {

void RunStore::read(const std::function<void(const Database&)>& work) const {
  state_->database.read([&] { work(state_->database); });
}

void RunStore::transaction(const std::function<void()>& work) {
  state_->database.write([&] { work(); });
}

void RunStore::after_each_write(std::function<void()> hook) {
  state_->database.after_each_write(std::move(hook));
}

void RunStore::append_search_log(RowId run, RowId task, std::string_view kind,
                                 std::string_view detail) {
  Database& database = state_->database;
  database.write([&] {
    Query(database, "INSERT INTO search_log (run_id, task_id, seq, kind, detail, created_at) "
                    "VALUES (?1, ?2, (SELECT coalesce(max(seq), 0) + 1 FROM search_log "
                    "WHERE run_id = ?1 AND task_id = ?2), ?3, ?4, ?5)")
        .bind(run, task, kind, detail, utc_now())
        .run();
  });
}

std::vector<SearchLogRow> RunStore::search_log(RowId run, RowId task) const {
  Database& database = state_->database;
  return database.read([&] {
    Query query(database, "SELECT " + columns<SearchLogRow>() +
                              " FROM search_log WHERE run_id = ? AND task_id = ? ORDER BY seq");
    return rows_of<SearchLogRow>(query.bind(run, task), {.json_text = "detail"});
  });
}

} // namespace winnow::store
