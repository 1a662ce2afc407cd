// The RunStore methods for candidates and their evaluations.
#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "store/author.h"
#include "store/candidate_record.h"
#include "store/evaluation_rows.h"
#include "store/fields.h"
#include "store/run_store.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::store {
namespace {

const std::string kSelectCandidates =
    "SELECT c.id, t.name AS task, c.call_key, c.parent_id, c.origin, k.text, k.digest, "
    "c.created_at, " +
    versus_sql("t", "(SELECT device FROM evaluations WHERE candidate_id = c.id AND ordinal = 0)") +
    " AS speedup_versus, m.model, CASE WHEN "
    "m.served_from IS NULL THEN m.dollars ELSE 0.0 END AS dollars, " +
    author_sql({"m.model", "c.origin", "c.run_id", "r.name", "k.digest"}) +
    " AS author FROM candidates AS c JOIN runs AS r ON r.id = c.run_id JOIN tasks AS t ON t.id = "
    "c.task_id "
    "JOIN kernel_files AS k ON k.id = c.kernel_file_id "
    "LEFT JOIN model_calls AS m ON m.id = c.call_id ";

CandidateRow read_candidate(const Query& query) {
  return row_of<CandidateRow>(query, {"other_parents"});
}

std::int64_t count_lines(std::string_view text) {
  const auto newlines = std::count(text.begin(), text.end(), '\n');
  return newlines + (text.empty() || text.back() == '\n' ? 0 : 1);
}

RowId add_kernel_file(Database& database, const std::string& text) {
  const std::string digest = sha256_hex(text);
  return Query(database, "INSERT INTO kernel_files (digest, text, lines) VALUES (?, ?, ?) ON "
                         "CONFLICT DO NOTHING")
      .bind(digest, text, count_lines(text))
      .insert_or_find("SELECT id FROM kernel_files WHERE digest = ?", digest);
}

std::int64_t next_ordinal(const Database& database, RowId candidate) {
  Query query(database, "SELECT coalesce(max(ordinal) + 1, 0) AS next FROM evaluations "
                        "WHERE candidate_id = ?");
  query.bind(candidate).next();
  return query.integer("next");
}

bool is_known(const Database& database, std::string_view request) {
  Query query(database, "SELECT 1 FROM evaluations WHERE request = ?");
  return query.bind(request).next();
}

std::optional<RowId> find_candidate(const Database& database, RowId run, RowId task,
                                    const CandidateRow& candidate, RowId kernel_file) {
  Query query(database, candidate.call_key.empty()
                            ? "SELECT id FROM candidates WHERE run_id = ?1 AND task_id = ?2 AND "
                              "call_key = '' AND origin = ?4 AND kernel_file_id = ?5"
                            : "SELECT id FROM candidates WHERE run_id = ?1 AND task_id = ?2 AND "
                              "call_key = ?3 AND call_key <> '' AND ?4 = ?4 AND ?5 = ?5");
  query.bind(run, task, candidate.call_key, candidate.origin, kernel_file);
  return query.next() ? std::optional(query.integer("id")) : std::nullopt;
}

void insert_parents(Database& database, RowId id, const CandidateRow& candidate) {
  std::vector<RowId> parents = candidate.other_parents;
  if (candidate.parent_id != 0) {
    parents.insert(parents.begin(), candidate.parent_id);
  }
  Query insert(database, "INSERT INTO candidate_parents (candidate_id, position, parent_id) "
                         "VALUES (?, ?, ?)");
  for (std::size_t i = 0; i < parents.size(); ++i) {
    insert.bind(id, static_cast<std::int64_t>(i), parents[i]).run();
  }
}

/// Empty: the candidate is not from a model.
std::string reply_of(const Database& database, RowId id) {
  Query reply(database, "SELECT m.reply FROM candidates AS c "
                        "JOIN model_calls AS m ON m.id = c.call_id WHERE c.id = ?");
  return reply.bind(id).next() ? reply.text("reply") : "";
}

} // namespace

RowId RunStore::add_candidate(RowId run, RowId task, const CandidateRow& candidate) {
  return database_.write([&] {
    const RowId kernel_file = add_kernel_file(database_, candidate.text);
    if (const auto known = find_candidate(database_, run, task, candidate, kernel_file)) {
      return *known;
    }
    Query(database_,
          "INSERT INTO candidates (run_id, task_id, call_id, call_key, parent_id, origin, "
          "kernel_file_id, created_at) VALUES (?1, ?2, "
          "(SELECT id FROM model_calls WHERE run_id = ?1 AND key = ?3), ?3, nullif(?4, 0), ?5, ?6, "
          "?7)")
        .bind(run, task, candidate.call_key, candidate.parent_id, candidate.origin, kernel_file,
              utc_now())
        .run();
    const RowId id = database_.last_insert_id();
    insert_parents(database_, id, candidate);
    return id;
  });
}

void RunStore::add_evaluations(RowId candidate, const std::vector<tasks::Evaluation>& evaluations,
                               std::string_view request) {
  database_.write([&] {
    if (next_ordinal(database_, candidate) == 0) {
      std::int64_t ordinal = 0;
      for (const tasks::Evaluation& evaluation : evaluations) {
        insert_evaluation(database_, candidate, ordinal++, evaluation, request, 0);
      }
    }
  });
}

void RunStore::add_trials(RowId candidate, const std::vector<tasks::Evaluation>& trials,
                          std::string_view request, int turns) {
  database_.write([&] {
    if (is_known(database_, request)) {
      return;
    }
    std::int64_t ordinal = std::max<std::int64_t>(next_ordinal(database_, candidate), 1);
    for (const tasks::Evaluation& trial : trials) {
      insert_evaluation(database_, candidate, ordinal++, trial, request, turns);
    }
  });
}

void RunStore::supersede_evaluation(RowId candidate, const tasks::Evaluation& evaluation,
                                    std::string_view request) {
  database_.write([&] {
    if (is_known(database_, request)) {
      return;
    }
    Query counting(database_, "SELECT id FROM evaluations WHERE candidate_id = ? AND ordinal = 0");
    const bool has_one = counting.bind(candidate).next();
    const RowId before = has_one ? counting.integer("id") : 0;
    Query(database_, "UPDATE evaluations SET ordinal = ?2 WHERE candidate_id = ?1 AND ordinal = 0")
        .bind(candidate, next_ordinal(database_, candidate))
        .run();
    const RowId now = insert_evaluation(database_, candidate, 0, evaluation, request, 0);
    Query(database_, "UPDATE evaluations SET superseded_by = ? WHERE id = ?")
        .bind(now, before)
        .run();
  });
}

void RunStore::copy_evaluations(RowId from, RowId to) {
  database_.write([&] {
    if (next_ordinal(database_, to) == 0) {
      copy_evaluations_of(database_, from, to);
    }
  });
}

std::vector<tasks::Evaluation> RunStore::evaluations_in_full(RowId candidate) const {
  return database_.read([&] { return store::evaluations_in_full(database_, candidate); });
}

std::vector<tasks::Evaluation> RunStore::trials(RowId candidate) const {
  return database_.read([&] { return trials_of_candidate(database_, candidate); });
}

std::vector<CandidateState> RunStore::candidates(RowId run) const {
  return database_.read([&] {
    auto evaluations = evaluations_of_run(database_, run);
    std::vector<CandidateState> states;
    Query query(database_, kSelectCandidates + "WHERE c.run_id = ? ORDER BY c.id");
    query.bind(run);
    while (query.next()) {
      CandidateState& state = states.emplace_back();
      state.row = read_candidate(query);
      if (const auto found = evaluations.find(state.row.id); found != evaluations.end()) {
        state.best = std::move(found->second);
      }
    }
    return states;
  });
}

bool RunStore::has_file(RowId run, RowId task, std::string_view digest) const {
  Query query(database_,
              "SELECT 1 FROM candidates AS c JOIN kernel_files AS k ON k.id = c.kernel_file_id "
              "WHERE c.run_id = ? AND c.task_id = ? AND k.digest = ?");
  return query.bind(run, task, digest).next();
}

CandidateRow RunStore::candidate(RowId id) const {
  return database_.read([&] {
    Query query(database_, kSelectCandidates + "WHERE c.id = ?");
    if (!query.bind(id).next()) {
      throw no_candidate(database_, id);
    }
    return read_candidate(query);
  });
}

CandidateState RunStore::candidate_state(RowId id) const {
  return database_.read([&] {
    return CandidateState{candidate(id), evaluation_of_candidate(database_, id),
                          reply_of(database_, id)};
  });
}

CandidateState candidate_without_samples(const RunStore& store, RowId id) {
  return store.read([&](const Database& database) {
    return CandidateState{store.candidate(id), evaluation_without_samples(database, id),
                          reply_of(database, id)};
  });
}

} // namespace winnow::store
