// The RunStore method that reads all about one candidate.
#include "store/candidate_record.h"

#include "base/json_dump.h"
#include "store/fields.h"
#include "store/run_store.h"
#include "store/task_notes.h"

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

constexpr FieldRules kNotOfAPlace{"kernel verdict detail times races"};

void read_facts(const Database& database, CandidateRecord& record) {
  Query query(database, "SELECT c.run_id, r.name AS run, t.digest AS task_digest, k.lines, "
                        "json_extract(e.content, '$.device.facts') AS device_facts, "
                        "m.prompt_tokens, m.completion_tokens, m.reasoning_tokens "
                        "FROM candidates AS c JOIN runs AS r ON r.id = c.run_id "
                        "JOIN tasks AS t ON t.id = c.task_id "
                        "LEFT JOIN environments AS e ON e.run_id = c.run_id "
                        "JOIN kernel_files AS k ON k.id = c.kernel_file_id "
                        "LEFT JOIN model_calls AS m ON m.id = c.call_id WHERE c.id = ?");
  query.bind(record.state.row.id).next();
  record.run = query.integer("run_id");
  record.run_name = query.text("run");
  record.task_digest = query.text("task_digest");
  TaskNotes notes(database);
  record.task_note = notes.revision(record.state.row.task, record.task_digest);
  record.task_proof = record.state.best ? notes.proof(record.state.row.task, record.task_digest,
                                                      record.state.best->device)
                                        : "";
  record.lines = query.integer("lines");
  if (const auto facts = nlohmann::json::parse(query.text("device_facts"), nullptr, false);
      facts.is_object()) {
    record.device_facts = facts.get<tasks::FactValues>();
  }
  record.prompt_tokens = query.integer("prompt_tokens");
  record.completion_tokens = query.integer("completion_tokens");
  record.reasoning_tokens = query.integer("reasoning_tokens");
}

std::vector<RowId> parents_of(const Database& database, RowId candidate) {
  Query query(database, "SELECT parent_id FROM candidate_parents WHERE candidate_id = ? "
                        "ORDER BY position");
  query.bind(candidate);
  std::vector<RowId> parents;
  while (query.next()) {
    parents.push_back(query.integer("parent_id"));
  }
  return parents;
}

/// The search log has the decision to ask for the candidate. The search for the text of the key is
/// ten times as fast as parsing each decision.
std::string operator_of(const Database& database, RowId candidate) {
  Query query(database, "SELECT c.call_key, l.detail FROM candidates AS c JOIN search_log AS l "
                        "ON l.run_id = c.run_id AND l.task_id = c.task_id "
                        "WHERE c.id = ?1 AND c.call_key <> '' AND l.kind = 'decided' "
                        "AND instr(l.detail, json_quote(c.call_key)) > 0");
  query.bind(candidate);
  while (query.next()) {
    const auto detail = nlohmann::json::parse(query.text("detail"));
    const nlohmann::json& action = detail.at("action");
    if (action.value("ask", "") == query.text("call_key")) {
      return action.value("operator", "");
    }
  }
  return {};
}

std::vector<CallMessage> messages_of(const Database& database, RowId candidate) {
  Query query(database, "SELECT p.role, p.text FROM candidates AS c "
                        "JOIN call_messages AS p ON p.call_id = c.call_id WHERE c.id = ? "
                        "ORDER BY p.position");
  return rows_of<CallMessage>(query.bind(candidate));
}

std::optional<tasks::SittingRow> final_of(const Database& database, RowId candidate) {
  Query query(database, "SELECT " + columns<tasks::SittingRow>(kNotOfAPlace, "f.") +
                            " FROM evaluations AS e "
                            "JOIN finalists AS f ON f.evaluation_id = e.id "
                            "JOIN leaderboard_groups AS g ON g.id = f.group_id "
                            "WHERE e.candidate_id = ? AND e.ordinal = 0 AND g.run_id IS NULL");
  return query.bind(candidate).next()
             ? std::optional(row_of<tasks::SittingRow>(query, kNotOfAPlace))
             : std::nullopt;
}

} // namespace

void put_versus(nlohmann::json& document, std::string_view versus) {
  if (versus != tasks::kVersusBaseline) {
    document["speedup_versus"] = versus;
  }
}

nlohmann::json evaluation_document(const CandidateState& state) {
  if (!state.best) {
    return nullptr;
  }
  nlohmann::json document = tasks::evaluation_json(*state.best);
  put_versus(document, state.row.speedup_versus);
  return document;
}

CandidateRecord RunStore::candidate_record(RowId id) const {
  return database_.read([&] {
    CandidateRecord record;
    record.state = candidate_state(id);
    read_facts(database_, record);
    record.parents = parents_of(database_, id);
    record.op = operator_of(database_, id);
    record.messages = messages_of(database_, id);
    record.final = final_of(database_, id);
    record.races = races_of_candidate(database_, id);
    record.measurements = measurements_of_candidate(database_, id);
    record.session = asked_in_session(database_, record.run_name, record.state.row.call_key);
    return record;
  });
}

} // namespace winnow::store
