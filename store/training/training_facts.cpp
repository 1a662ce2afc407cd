#include "store/training/training_facts.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace winnow::store {
namespace {

/// A loop that has declared its run does not say what it asked, so its replies teach nothing.
/// `tokens`: where the endpoint told none, a token is about four bytes.
constexpr const char* kFacts =
    "SELECT o.candidate_id, o.task, o.task_id, o.verdict, e.stage, o.device_name, c.call_id, "
    "e.evaluator_version, e.kernel, e.unranked, e.speedup, e.speedup_low, e.speedup_high, "
    "CASE WHEN m.completion_tokens > 0 THEN m.completion_tokens ELSE length(m.reply) / 4 END "
    "AS tokens, coalesce(nullif(b.machine_code_digest, ''), b.digest) AS code "
    "FROM candidate_overview AS o JOIN candidates AS c ON c.id = o.candidate_id "
    "JOIN model_calls AS m ON m.id = c.call_id "
    "LEFT JOIN evaluations AS e ON e.candidate_id = o.candidate_id AND e.ordinal = 0 "
    "LEFT JOIN builds AS b ON b.id = e.build_id "
    "WHERE o.origin = 'model' AND m.status = 'ok' AND NOT EXISTS "
    "(SELECT 1 FROM declared_calls AS d WHERE d.candidate_id = c.id) AND ?1 IN ('', o.run) AND ?2 "
    "IN ('', o.task) "
    "AND ?3 IN ('', coalesce(o.device, '')) ORDER BY o.candidate_id";

std::string board_of(const Query& query) {
  return fmt::format("{}/{}/{}", query.integer("task_id"), query.integer("evaluator_version"),
                     query.text("device_name"));
}

/// Numbers that are equal for calls with the same messages.
std::map<RowId, std::int64_t> read_prompts(const Database& database) {
  Query query(database, "SELECT call_id, prompt_id FROM call_prompts ORDER BY call_id, position");
  std::map<RowId, std::vector<RowId>> messages;
  while (query.next()) {
    messages[query.integer("call_id")].push_back(query.integer("prompt_id"));
  }
  std::map<std::vector<RowId>, std::int64_t> numbers;
  std::map<RowId, std::int64_t> prompts;
  for (const auto& [call, texts] : messages) {
    const auto number = static_cast<std::int64_t>(numbers.size()) + 1;
    prompts[call] = numbers.emplace(texts, number).first->second;
  }
  return prompts;
}

TrainingFacts read_facts(const Query& query) {
  TrainingFacts facts;
  facts.candidate = query.integer("candidate_id");
  facts.task = query.text("task");
  facts.board = board_of(query);
  facts.kernel = query.text("kernel");
  facts.code = query.text("code");
  facts.verdict =
      tasks::verdict_from_string(query.text("verdict")).value_or(tasks::Verdict::NotJudged);
  facts.stage = query.is_null("stage") ? tasks::Stage::Parse
                                       : static_cast<tasks::Stage>(query.integer("stage"));
  facts.unranked = !query.text("unranked").empty();
  facts.speedup = query.real_or_zero("speedup");
  facts.speedup_low = query.optional_real("speedup_low").value_or(facts.speedup);
  facts.speedup_high = query.optional_real("speedup_high").value_or(facts.speedup);
  facts.tokens = query.integer("tokens");
  return facts;
}

/// Adds what the only definition of eligibility says.
void read_eligibility(const Database& database, std::vector<TrainingFacts>& facts) {
  std::map<RowId, TrainingFacts*> by_candidate;
  for (TrainingFacts& reply : facts) {
    by_candidate.emplace(reply.candidate, &reply);
  }
  Query query(database, "SELECT candidate_id, unranked, speedup_low, speedup_high "
                        "FROM eligible_evaluations");
  while (query.next()) {
    const auto found = by_candidate.find(query.integer("candidate_id"));
    if (found != by_candidate.end()) {
      TrainingFacts& reply = *found->second;
      reply.promoted = true;
      reply.unranked = !query.text("unranked").empty();
      reply.speedup_low = query.real_or_zero("speedup_low");
      reply.speedup_high = query.real_or_zero("speedup_high");
    }
  }
}

} // namespace

std::vector<TrainingFacts> read_training_facts(const Database& database,
                                               const LeaderboardQuery& query) {
  const std::map<RowId, std::int64_t> prompts = read_prompts(database);
  Query rows(database, kFacts);
  rows.bind(query.run, query.task, query.device);
  std::vector<TrainingFacts> facts;
  while (rows.next()) {
    facts.push_back(read_facts(rows));
    const auto prompt = prompts.find(rows.integer("call_id"));
    // a call without stored messages is like no other
    facts.back().prompt = prompt != prompts.end() ? prompt->second : -rows.integer("call_id");
  }
  read_eligibility(database, facts);
  return facts;
}

std::vector<DecidedRace> read_decided_races(const Database& database) {
  Query query(database,
              "SELECT task_id, device_name, evaluator_version, kernel, rival, verdict, ratio, "
              "ratio_low, ratio_high FROM races WHERE verdict IN ('faster', 'slower')");
  std::vector<DecidedRace> races;
  while (query.next()) {
    DecidedRace race{board_of(query),     query.text("kernel"),    query.text("rival"),
                     query.real("ratio"), query.real("ratio_low"), query.real("ratio_high")};
    if (query.text("verdict") == "slower") {
      std::swap(race.faster, race.slower);
      race.ratio = 1 / race.ratio;
      std::swap(race.ratio_low, race.ratio_high);
      race.ratio_low = 1 / race.ratio_low;
      race.ratio_high = 1 / race.ratio_high;
    }
    races.push_back(std::move(race));
  }
  return races;
}

} // namespace winnow::store
