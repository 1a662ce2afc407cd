#include "store/declared_runs.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "store/fields.h"
#include "tasks/result/verdict.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

constexpr const char* kEndpointOfLoop = "external";

template <typename Work> auto in_transaction(RunStore& store, const Work& work) {
  decltype(work(std::declval<const Database&>())) result{};
  store.transaction(
      [&] { store.read([&](const Database& database) { result = work(database); }); });
  return result;
}

template <typename... Values>
std::int64_t number(const RunStore& store, const char* sql, const Values&... values) {
  return store.read([&](const Database& database) {
    Query query(database, sql);
    query.bind(values...).next();
    return query.integer("n");
  });
}

// Conditions on the key have `<> ''` beside them, which the index of keys needs.
constexpr const char* kReply =
    "SELECT c.id, c.task_id, k.digest FROM model_calls AS m JOIN candidates AS c ON c.run_id = "
    "m.run_id AND c.task_id = m.task_id AND c.call_key = m.key AND c.call_key <> '' "
    "JOIN kernel_files AS k ON k.id = c.kernel_file_id WHERE m.run_id = ? AND m.key = ?";

/// Whose candidate it is: an owner sends it as a job, or as a call of a run.
constexpr const char* kIsOf =
    "(?2 = '' OR EXISTS (SELECT 1 FROM judge_jobs AS j JOIN judge_items AS i ON i.job = j.job "
    "WHERE j.candidate_id = c.id AND i.owner = ?2) OR EXISTS (SELECT 1 FROM declared_calls AS d "
    "JOIN declared_runs AS r ON r.run_id = d.run_id WHERE d.candidate_id = c.id AND r.owner = "
    "?2))";

} // namespace

RowId DeclaredRuns::add(const DeclaredRun& run, const std::string& stored_name,
                        const nlohmann::json& config) {
  return in_transaction(store_, [&](const Database& database) {
    Query taken(database, "SELECT 1 FROM runs WHERE name = ?");
    if (taken.bind(stored_name).next()) {
      throw UsageError("the store has another run '" + run.name + "'", "choose another name");
    }
    Query machine(database, "SELECT content FROM environments WHERE run_id = ?");
    machine.bind(server_run_).next();
    const RowId id =
        store_.create_run(stored_name, config, nlohmann::json::parse(machine.text("content")));
    Query(database, "INSERT INTO declared_runs (run_id, server_run_id, owner, name) "
                    "VALUES (?, ?, ?, ?)")
        .bind(id, server_run_, run.owner, run.name)
        .run();
    return id;
  });
}

namespace {

template <typename... Values>
std::optional<DeclaredRun> run_where(const RunStore& store, const std::string& condition,
                                     const Values&... values) {
  return store.read([&](const Database& database) -> std::optional<DeclaredRun> {
    Query query(database, "SELECT d.run_id, d.owner, d.name AS own_name, " +
                              columns<RunRow>({}, "r.") +
                              " FROM declared_runs AS d JOIN runs AS r ON r.id = d.run_id "
                              "WHERE d.server_run_id = ?1 AND " +
                              condition);
    if (!query.bind(values...).next()) {
      return std::nullopt;
    }
    return DeclaredRun{query.integer("run_id"), query.text("owner"), query.text("own_name"),
                       row_of<RunRow>(query, {.json_text = "config"})};
  });
}

} // namespace

std::optional<DeclaredRun> DeclaredRuns::find(const std::string& owner,
                                              const std::string& name) const {
  return run_where(store_, "d.owner = ?2 AND d.name = ?3", server_run_, owner, name);
}

std::optional<DeclaredRun> DeclaredRuns::find_stored(const std::string& stored_name) const {
  return run_where(store_, "r.name = ?2", server_run_, stored_name);
}

std::int64_t DeclaredRuns::count(const std::string& owner) const {
  return number(store_, "SELECT count(*) AS n FROM declared_runs WHERE owner = ?", owner);
}

std::optional<RowId> DeclaredRuns::find_reply(const DeclaredReply& reply) const {
  return store_.read([&](const Database& database) -> std::optional<RowId> {
    Query known(database, kReply);
    if (!known.bind(reply.run, reply.key).next()) {
      return std::nullopt;
    }
    if (known.integer("task_id") != reply.task ||
        known.text("digest") != sha256_hex(reply.kernel)) {
      throw UsageError("call " + reply.key + " of the run has another kernel or task already",
                       "give each call a number of its own, and send a call again as it was");
    }
    return known.integer("id");
  });
}

RowId DeclaredRuns::add_reply(const DeclaredReply& reply) {
  return in_transaction(store_, [&](const Database& /*database*/) {
    const RowId call = store_.begin_call(reply.run, reply.task, reply.key, kEndpointOfLoop,
                                         reply.model, {{"run", reply.run}, {"call", reply.key}});
    ModelCallRow outcome;
    outcome.status = "ok";
    outcome.text = reply.reply;
    outcome.usage = reply.usage;
    outcome.dollars = reply.dollars;
    store_.finish_call(call, outcome);
    CandidateRow candidate;
    candidate.call_key = reply.key;
    candidate.origin = "model";
    candidate.text = reply.kernel;
    if (!reply.parents.empty()) {
      candidate.parent_id = reply.parents.front();
      candidate.other_parents.assign(reply.parents.begin() + 1, reply.parents.end());
    }
    return store_.add_candidate(reply.run, reply.task, candidate);
  });
}

std::int64_t DeclaredRuns::calls_of_task(RowId run, const std::string& task) const {
  return number(store_,
                "SELECT count(*) AS n FROM model_calls AS m JOIN tasks AS t ON t.id = m.task_id "
                "WHERE m.run_id = ? AND t.name = ?",
                run, task);
}

std::int64_t DeclaredRuns::next_call(RowId run) const {
  return number(store_,
                "SELECT 1 + coalesce(max(CAST(key AS INTEGER)), 0) AS n FROM model_calls "
                "WHERE run_id = ?",
                run);
}

bool DeclaredRuns::has_job(RowId candidate) const {
  return number(store_, "SELECT count(*) AS n FROM declared_calls WHERE candidate_id = ?",
                candidate) > 0;
}

void DeclaredRuns::link(RowId candidate, const std::string& job) {
  in_transaction(store_, [&](const Database& database) {
    Query(database, "INSERT INTO declared_calls (candidate_id, run_id, job) "
                    "SELECT id, run_id, ?2 FROM candidates WHERE id = ?1 "
                    "ON CONFLICT (candidate_id) DO UPDATE SET job = excluded.job "
                    "WHERE judged_at IS NULL")
        .bind(candidate, job)
        .run();
    return true;
  });
}

void DeclaredRuns::take_over(const std::string& job) {
  in_transaction(store_, [&](const Database& database) {
    struct Waiting {
      RowId candidate = 0, run = 0, judged = 0;
      std::string key;
      double elapsed = 0;
    };
    std::vector<Waiting> all;
    const std::string now = utc_now();
    Query waiting(database,
                  "SELECT d.candidate_id, d.run_id, j.candidate_id AS judged, c.call_key, "
                  "max(0.0, 86400.0 * (julianday(?2) - julianday(r.started_at))) AS elapsed "
                  "FROM declared_calls AS d JOIN judge_jobs AS j ON j.job = d.job "
                  "JOIN candidates AS c ON c.id = d.candidate_id JOIN runs AS r ON r.id = d.run_id "
                  "WHERE d.job = ?1 AND d.judged_at IS NULL ORDER BY d.candidate_id");
    for (waiting.bind(job, now); waiting.next();) {
      all.push_back({waiting.integer("candidate_id"), waiting.integer("run_id"),
                     waiting.integer("judged"), waiting.text("call_key"), waiting.real("elapsed")});
    }
    Query judged(database, "UPDATE declared_calls SET judged_at = ?2 WHERE candidate_id = ?1");
    for (const Waiting& one : all) {
      if (one.candidate != one.judged) {
        store_.copy_evaluations(one.judged, one.candidate);
      }
      store_.add_event(one.run, "judged", {{"key", one.key}, {"elapsed_seconds", one.elapsed}});
      judged.bind(one.candidate, now).run();
    }
    return true;
  });
}

std::optional<RowId> DeclaredRuns::candidate_where(const std::string& condition,
                                                   const std::string& task,
                                                   const std::string& owner,
                                                   const std::string& value, RowId run) const {
  return store_.read([&](const Database& database) {
    Query query(database, "SELECT c.id FROM candidates AS c JOIN tasks AS t ON t.id = c.task_id "
                          "WHERE t.name = ?1 AND " +
                              std::string(kIsOf) + " AND " + condition);
    return query.bind(task, owner, value, run).next() ? std::optional(query.integer("id"))
                                                      : std::nullopt;
  });
}

std::optional<RowId> DeclaredRuns::of_call(RowId run, const std::string& task,
                                           const std::string& key) const {
  return candidate_where("c.run_id = ?4 AND c.call_key = ?3 AND c.call_key <> '' LIMIT 1", task, "",
                         key, run);
}

std::optional<RowId> DeclaredRuns::of_job(RowId run, const std::string& task,
                                          const std::string& job, const std::string& owner) const {
  return candidate_where(
      "(c.id IN (SELECT candidate_id FROM judge_jobs WHERE job = ?3) OR c.id IN "
      "(SELECT candidate_id FROM declared_calls WHERE job = ?3 AND run_id = ?4)) "
      "ORDER BY c.run_id <> ?4, c.id LIMIT 1",
      task, owner, job, run);
}

std::optional<RowId> DeclaredRuns::of_number(RowId number, const std::string& task,
                                             const std::string& owner) const {
  return candidate_where("c.id = ?4 AND ?3 = '' LIMIT 1", task, owner, "", number);
}

std::vector<DeclaredTask> DeclaredRuns::tasks(RowId run) const {
  return store_.read([&](const Database& database) {
    // A bare column beside max() is that of the row with the maximum.
    Query query(database,
                "SELECT t.name AS task, count(*) AS calls, count(*) - count(e.id) AS unjudged, "
                "count(nullif(e.verdict = ?2, 0)) AS correct, c.call_key, "
                "CASE WHEN e.verdict = ?2 THEN c.id ELSE 0 END AS best, "
                "CASE WHEN e.verdict = ?2 THEN coalesce(e.speedup, 0.0) ELSE 0.0 END AS speedup, "
                "max(CASE WHEN e.verdict = ?2 THEN coalesce(e.speedup, 0.0) ELSE -1.0 END) AS most "
                "FROM candidates AS c JOIN tasks AS t ON t.id = c.task_id "
                "LEFT JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0 "
                "WHERE c.run_id = ?1 AND c.call_id IS NOT NULL GROUP BY t.name ORDER BY t.name");
    query.bind(run, static_cast<int>(tasks::Verdict::Correct));
    return rows_of<DeclaredTask>(query);
  });
}

std::map<std::string, std::uint64_t> DeclaredRuns::stored_bytes() const {
  std::map<std::string, std::uint64_t> bytes;
  store_.read([&](const Database& database) {
    Query query(database,
                "SELECT d.owner, sum(?1 + length(CAST(r.config AS BLOB)) + "
                "(SELECT total(length(CAST(coalesce(m.reply, '') AS BLOB)) + ?1) "
                "FROM model_calls AS m WHERE m.run_id = d.run_id)) AS bytes "
                "FROM declared_runs AS d JOIN runs AS r ON r.id = d.run_id GROUP BY d.owner");
    for (query.bind(static_cast<std::int64_t>(kBytesOfDeclared)); query.next();) {
      bytes[query.text("owner")] = static_cast<std::uint64_t>(query.real("bytes"));
    }
  });
  return bytes;
}

} // namespace winnow::store
