#include "store/judge_requests.h"

#include "base/text.h"
#include "store/fields.h"

#include <set>

namespace winnow::store {
namespace {

constexpr FieldRules kNewItem{"place fault candidate queued_seconds"};

constexpr const char* kItemColumns =
    "SELECT i.batch, i.position, i.item, i.job, i.owner, i.reward, i.place, i.fault, i.cached, "
    "j.candidate_id AS candidate, CASE WHEN i.cached THEN 0.0 ELSE max(0.0, 86400.0 * "
    "(julianday(i.answered_at) - julianday(i.asked_at)) - (SELECT coalesce(sum(e.seconds), 0.0) "
    "FROM evaluations AS e WHERE e.candidate_id = j.candidate_id)) END AS queued_seconds "
    "FROM judge_items AS i JOIN judge_jobs AS j ON j.job = i.job ";

/// Whether a candidate belongs to the server whose run is ?1.
const std::string kOfServer = "(c.run_id = ?1 OR c.run_id IN "
                              "(SELECT run_id FROM declared_runs WHERE server_run_id = ?1))";

std::optional<std::string> optional_text(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

template <typename... Values>
std::vector<JudgeItemRow> items_where(const RunStore& store, const std::string& rest,
                                      const Values&... values) {
  return store.read([&](const Database& database) {
    Query query(database, kItemColumns + rest);
    return rows_of<JudgeItemRow>(query.bind(values...));
  });
}

template <typename Work> void write(RunStore& store, const Work& work) {
  store.transaction([&] { store.read([&](const Database& database) { work(database); }); });
}

std::vector<JudgeJob> jobs_of(Query& query) {
  std::vector<JudgeJob> jobs;
  while (query.next()) {
    jobs.push_back({query.text("job"), query.integer("candidate_id"), query.text("options"), false,
                    query.text("owner"), static_cast<int>(query.integer("priority"))});
  }
  return jobs;
}

} // namespace

void JudgeRequests::add_job(const JudgeJob& job) {
  write(store_, [&](const Database& database) {
    Query(database, "INSERT INTO judge_jobs (job, candidate_id, options) VALUES (?, ?, ?) "
                    "ON CONFLICT (job) DO NOTHING")
        .bind(job.job, job.candidate, job.options)
        .run();
  });
}

void JudgeRequests::add_batch(const JudgeBatchRow& batch) {
  write(store_, [&](const Database& database) {
    constexpr FieldRules kBatch{{}, "metadata content"};
    Query insert(database, insert_into<JudgeBatchRow>("judge_batches", "", kBatch));
    bind_fields(insert.bind(), batch, kBatch).run();
  });
}

std::optional<std::int64_t> JudgeRequests::seed_of(const std::string& content) const {
  return store_.read([&](const Database& database) {
    Query query(database, "SELECT seed FROM judge_batches WHERE content = ? LIMIT 1");
    return query.bind(content).next() ? query.optional_integer("seed") : std::nullopt;
  });
}

void JudgeRequests::add_item(const JudgeItemRow& item) {
  write(store_, [&](const Database& database) {
    Query insert(database, insert_into<JudgeItemRow>("judge_items", "asked_at", kNewItem));
    bind_fields(insert.bind(utc_now()), item, kNewItem).run();
  });
}

std::vector<std::string> JudgeRequests::answer(const std::string& job, const std::string& fault,
                                               const std::string& owner) {
  std::set<std::string> batches;
  write(store_, [&](const Database& database) {
    Query waiting(database, "SELECT batch, position FROM judge_items WHERE job = ?1 AND place IS "
                            "NULL AND (?2 = '' OR owner = ?2) ORDER BY batch, position");
    waiting.bind(job, owner);
    std::vector<std::pair<std::string, std::int64_t>> found;
    while (waiting.next()) {
      found.emplace_back(waiting.text("batch"), waiting.integer("position"));
    }
    Query last(database, "SELECT max(max(coalesce(place, 0), coalesce(withdrawn_place, 0))) AS "
                         "place FROM judge_items WHERE batch = ?");
    Query set(database, "UPDATE judge_items SET place = ?3, fault = ?4, answered_at = ?5 "
                        "WHERE batch = ?1 AND position = ?2");
    std::int64_t place = 0;
    for (const auto& [batch, position] : found) { // those of one batch stand together
      if (batches.insert(batch).second) {
        last.bind(batch).next();
        place = last.integer("place");
      }
      set.bind(batch, position, ++place, optional_text(fault), utc_now()).run();
    }
  });
  return {batches.begin(), batches.end()};
}

std::optional<JudgeJob> JudgeRequests::find_job(const std::string& job) const {
  std::optional<JudgeJob> row;
  store_.read([&](const Database& database) {
    Query query(database, "SELECT candidate_id, options, EXISTS (SELECT 1 FROM evaluations AS e "
                          "WHERE e.candidate_id = j.candidate_id AND e.ordinal = 0 AND e.verdict "
                          "<> ?2) AS has_evaluation "
                          "FROM judge_jobs AS j WHERE job = ?1");
    if (query.bind(job, static_cast<int>(tasks::Verdict::Infrastructure)).next()) {
      row = JudgeJob{job, query.integer("candidate_id"), query.text("options"),
                     query.integer("has_evaluation") != 0};
    }
  });
  return row;
}

std::vector<JudgeJob> JudgeRequests::pending_jobs(RowId run) const {
  return store_.read([&](const Database& database) {
    Query query(database,
                "SELECT j.job, j.candidate_id, j.options, i.owner, min(i.asked_at) AS asked_at, "
                "(SELECT max(b.priority) FROM judge_items AS o JOIN judge_batches AS b "
                "ON b.batch = o.batch WHERE o.job = j.job AND o.place IS NULL) AS priority FROM "
                "judge_items AS i JOIN judge_jobs AS j ON j.job = i.job "
                "JOIN candidates AS c ON c.id = j.candidate_id "
                "WHERE i.place IS NULL AND " +
                    kOfServer +
                    " AND NOT EXISTS (SELECT 1 FROM evaluations "
                    "AS e WHERE e.candidate_id = c.id AND e.ordinal = 0 AND e.verdict <> ?2) "
                    "GROUP BY j.job ORDER BY asked_at, c.id");
    query.bind(run, static_cast<int>(tasks::Verdict::Infrastructure));
    return jobs_of(query);
  });
}

bool JudgeRequests::is_waited_for(const std::string& job) const {
  return !items_where(store_, "WHERE i.job = ? AND i.place IS NULL LIMIT 1", job).empty();
}

std::optional<JudgeBatchState> JudgeRequests::batch(const std::string& batch,
                                                    const std::string& owner) const {
  JudgeBatchState state;
  store_.read([&](const Database& database) {
    Query query(database, "SELECT count(*) AS items, count(place) AS answered, "
                          "coalesce(max(place), 0) AS last, "
                          "(SELECT metadata FROM judge_batches WHERE batch = ?1) AS metadata "
                          "FROM judge_items WHERE batch = ?1 AND ?2 IN ('', owner)");
    query.bind(batch, owner).next();
    state = {query.integer("items"), query.integer("answered"), query.integer("last"),
             query.text("metadata")};
  });
  return state.items == 0 ? std::nullopt : std::optional(state);
}

std::vector<JudgeItemRow> JudgeRequests::answered(const std::string& batch, std::int64_t after,
                                                  std::int64_t limit) const {
  return items_where(store_, "WHERE i.batch = ? AND i.place > ? ORDER BY i.place LIMIT ?", batch,
                     after, limit);
}

std::optional<JudgeItemRow> JudgeRequests::item_of_job(const std::string& job,
                                                       const std::string& owner) const {
  const auto rows = items_where(
      store_,
      "WHERE i.job = ?1 AND ?2 IN ('', i.owner) ORDER BY i.asked_at DESC, i.position DESC LIMIT 1",
      job, owner);
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::map<std::string, std::uint64_t> JudgeRequests::stored_bytes() const {
  std::map<std::string, std::uint64_t> bytes;
  const auto add = [&](Query& query) {
    while (query.next()) {
      bytes[query.text("owner")] += static_cast<std::uint64_t>(query.integer("bytes"));
    }
  };
  store_.read([&](const Database& database) {
    Query texts(
        database,
        "SELECT i.owner, sum(length(CAST(k.text AS BLOB)) + ?) AS bytes FROM judge_items AS i "
        "JOIN judge_jobs AS j ON j.job = i.job "
        "JOIN candidates AS c ON c.id = j.candidate_id "
        "JOIN kernel_files AS k ON k.id = c.kernel_file_id GROUP BY i.owner");
    texts.bind(static_cast<std::int64_t>(kBytesOfJudgeItem));
    add(texts);
    Query batches(
        database,
        "SELECT owner, sum(bytes) AS bytes FROM (SELECT i.owner, "
        "length(CAST(b.metadata AS BLOB)) AS bytes FROM judge_batches AS b JOIN judge_items "
        "AS i ON i.batch = b.batch WHERE b.metadata IS NOT NULL "
        "GROUP BY b.batch) GROUP BY owner");
    add(batches);
    Query choices(
        database,
        "SELECT i.owner, sum(e.more) * ? AS bytes "
        "FROM (SELECT DISTINCT owner, job FROM judge_items) AS i "
        "JOIN judge_jobs AS j ON j.job = i.job "
        "JOIN (SELECT candidate_id, count(*) - 1 AS more FROM evaluations GROUP BY candidate_id) "
        "AS e ON e.candidate_id = j.candidate_id GROUP BY i.owner");
    choices.bind(static_cast<std::int64_t>(kBytesOfChoice));
    add(choices);
  });
  return bytes;
}

std::optional<RowId> JudgeRequests::correct_candidate(std::string_view name,
                                                      const std::string& task,
                                                      const std::string& owner) const {
  constexpr std::size_t kLeastDigits = 4;
  const bool is_number = name.find_first_not_of("0123456789") == std::string_view::npos;
  const bool is_digest = name.size() >= kLeastDigits && name.size() <= 64 &&
                         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return store_.read([&](const Database& database) {
    Query query(database,
                "SELECT c.id FROM candidates AS c JOIN tasks AS t ON t.id = c.task_id "
                "JOIN kernel_files AS k ON k.id = c.kernel_file_id "
                "JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0 "
                "WHERE t.name = ?1 AND e.verdict = ?2 AND (c.id IN (SELECT id FROM candidates "
                "WHERE ?4 AND id = CAST(?3 AS INTEGER)) OR k.id IN (SELECT id FROM kernel_files "
                "WHERE ?5 AND digest >= ?3 AND digest < ?3 || 'g')) AND (?6 = '' OR EXISTS "
                "(SELECT 1 FROM judge_jobs AS j JOIN judge_items AS i ON i.job = j.job "
                "WHERE j.candidate_id = c.id AND i.owner = ?6) OR EXISTS "
                "(SELECT 1 FROM declared_calls AS d JOIN declared_runs AS r ON r.run_id = d.run_id "
                "WHERE d.candidate_id = c.id AND r.owner = ?6)) "
                "ORDER BY c.id <> CAST(?3 AS INTEGER), c.id LIMIT 1");
    query.bind(task, static_cast<int>(tasks::Verdict::Correct), name, is_number && name.size() < 19,
               is_digest, owner);
    return query.next() ? std::optional(query.integer("id")) : std::nullopt;
  });
}

namespace {

/// `where`: about i (judge_items), j (judge_jobs) and c (candidates).
std::string asked_query(const std::string& where) {
  return "SELECT j.job, j.candidate_id, min(i.asked_at) AS asked_at, e.verdict, e.stage, "
         "e.promoted, e.speedup, e.score_ns FROM judge_items AS i JOIN judge_jobs AS j "
         "ON j.job = i.job JOIN candidates AS c ON c.id = j.candidate_id LEFT JOIN evaluations "
         "AS e ON e.candidate_id = j.candidate_id AND e.ordinal = 0 WHERE " +
         where + " GROUP BY j.job ORDER BY j.candidate_id";
}

std::vector<AskedKernel> asked_kernels(Query& query) {
  std::vector<AskedKernel> asked;
  while (query.next()) {
    asked.push_back({query.integer("candidate_id"), query.text("job"), query.text("asked_at"),
                     static_cast<tasks::Verdict>(query.optional_integer("verdict").value_or(0)),
                     static_cast<tasks::Stage>(query.optional_integer("stage").value_or(0)),
                     query.optional_integer("promoted").value_or(0) != 0,
                     query.optional_real("speedup").value_or(0),
                     query.optional_real("score_ns").value_or(0)});
  }
  return asked;
}

} // namespace

std::vector<AskedKernel> JudgeRequests::asked(RowId run, const std::string& owner) const {
  return store_.read([&](const Database& database) {
    Query query(database, asked_query("i.owner = ?2 AND " + kOfServer));
    return asked_kernels(query.bind(run, owner));
  });
}

std::map<std::string, AskedSums> JudgeRequests::asked_sums(RowId run) const {
  return store_.read([&](const Database& database) {
    Query query(database,
                "SELECT i.owner, count(DISTINCT i.job) AS asked, "
                "count(nullif(e.ordinal = 0 AND e.verdict <> ?2 AND e.stage <= ?3, 0)) AS refused, "
                "count(nullif(e.stage >= ?4, 0)) AS hidden_answers "
                "FROM (SELECT DISTINCT owner, job FROM judge_items) AS i "
                "JOIN judge_jobs AS j ON j.job = i.job JOIN candidates AS c ON c.id = "
                "j.candidate_id LEFT JOIN evaluations AS e ON e.candidate_id = c.id "
                "AND e.turns IS NULL AND e.asked_by = '' WHERE " +
                    kOfServer + " GROUP BY i.owner");
    query.bind(run, static_cast<int>(tasks::Verdict::NotJudged),
               static_cast<int>(tasks::Stage::Compile), static_cast<int>(tasks::Stage::Promotion));
    std::map<std::string, AskedSums> sums;
    while (query.next()) {
      sums[query.text("owner")] = {query.integer("asked"), query.integer("refused"),
                                   query.integer("hidden_answers")};
    }
    return sums;
  });
}

std::vector<AskedKernel> asked_in_session(const Database& database, const std::string& run,
                                          const std::string& call_key) {
  if (call_key.empty()) {
    return {};
  }
  Query query(database,
              asked_query("c.run_id = (SELECT id FROM runs WHERE name = ?1 || '.sessions') AND "
                          "(i.owner = replace(?2, '/', '-') OR "
                          "substr(i.owner, 1, length(?2) + 1) = replace(?2, '/', '-') || '.')"));
  return asked_kernels(query.bind(run, call_key));
}

} // namespace winnow::store
