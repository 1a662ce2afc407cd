#include "harness/run/role_intake.h"

#include "agents/roles/role_reply.h"
#include "base/text.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/run/prompts/role_facts.h"
#include "search/counsel.h"
#include "search/role.h"
#include "search/speed_bins.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr const char* kSwitchedOff = "role switched off";

/// "the verifier rejects the kernel: line 12 (memory): ...". Further findings follow, a line each.
std::string rejection_text(const std::string& advice) {
  std::vector<std::string> findings;
  const auto parsed = nlohmann::json::parse(advice);
  for (const auto& finding : parsed.at("findings")) {
    findings.push_back(fmt::format("line {} ({}): {}", finding.at("line").get<std::int64_t>(),
                                   finding.at("reason").get<std::string>(),
                                   finding.at("text").get<std::string>()));
  }
  return "the verifier rejects the kernel: " + join(findings, "\n");
}

/// "left out, because the forecaster holds a gain for improbable: ...".
std::string left_out_text(const std::string& advice) {
  return "left out, because the forecaster holds a gain for improbable: " +
         nlohmann::json::parse(advice).at("reason").get<std::string>();
}

agents::RoleFacts facts_for(const std::string& role, const ShelvedCandidate& about) {
  agents::RoleFacts facts;
  if (role == "judge") {
    for (const auto& [name, value] : record_facts(about.evaluation)) {
      facts.metrics.push_back(name);
    }
  } else if (role == "verifier") {
    facts.lines = split_lines(about.text).size();
  } else if (role == "forecaster") {
    facts.bins = search::kSpeedBins;
  }
  return facts;
}

} // namespace

void RoleIntake::accept_reply(TaskState& state, const search::Ask& ask,
                              const agents::ModelReply& reply) {
  const std::string& role = search::role_with_operator(ask.op)->name;
  const store::RowId about = role == "meta-prompter" ? 0 : ask.parents.front();
  const agents::RoleReply parsed = agents::parse_role_reply(
      ask.op, reply.text, about != 0 ? facts_for(role, shelf_.at(about)) : agents::RoleFacts{});
  const search::Advised advised{ask.key, parsed.advice, reply.dollars.value_or(0), reply.seconds};
  const std::optional<tasks::Evaluation> refused =
      state.search->refuses(advised) ? std::optional(refused_by(role, parsed.advice))
                                     : std::nullopt;
  commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
    setup_.journal.store().add_advice(setup_.journal.run(),
                                      {ask.key, role, about, parsed.advice, parsed.problem});
    std::vector<search::Event> events{advised};
    if (refused) {
      setup_.journal.store().add_evaluations(about, {*refused});
      events.emplace_back(
          search::Evaluated{about, search::outcome_of(*refused, shelf_.at(about).text)});
    }
    return events;
  });
  if (!parsed.problem.empty()) {
    setup_.progress.event(ask.key + ": the reply is of no use: " + parsed.problem);
  }
  if (refused) {
    tell_refused(state, about, *refused);
  }
}

/// Of a candidate that no device sees.
tasks::Evaluation RoleIntake::refused_by(const std::string& role, const std::string& advice) const {
  tasks::Evaluation refused = evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
  if (role == "forecaster") { // nobody knows whether the kernel is good
    refused.detail = left_out_text(advice);
  } else {
    refused.verdict = tasks::Verdict::Refused;
    refused.detail = rejection_text(advice);
  }
  return refused;
}

void RoleIntake::tell_refused(TaskState& state, store::RowId candidate,
                              const tasks::Evaluation& refused) {
  shelf_.forget(candidate);
  const search::Individual& individual = *state.search->find(candidate);
  tally_.count(state, candidate, *individual.outcome);
  tally_.tell(state, individual.ask->key, refused);
}

void RoleIntake::skip(TaskState& state, const search::Ask& ask,
                      const std::optional<search::Capacity>& decided_at, const std::string& why) {
  commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
    setup_.journal.event("role skipped", {{"key", ask.key}, {"reason", why}});
    std::vector<search::Event> events;
    if (decided_at) {
      events.emplace_back(search::Decided{ask, *decided_at});
    }
    events.emplace_back(search::Unanswered{ask.key});
    return events;
  });
  setup_.progress.event(ask.key + " is skipped: " + why);
}

void RoleIntake::follow(TaskState& state) {
  if (state.search->roles().empty()) {
    state.unscored.clear();
    return;
  }
  std::erase_if(state.unscored, [&](store::RowId candidate) {
    const search::Individual* judged = state.search->find(candidate);
    const bool is_settled = judged != nullptr && judged->outcome &&
                            judged->outcome->verdict != tasks::Verdict::Infrastructure;
    if (is_settled && judged->ask) {
      score(state, *judged);
    }
    return is_settled;
  });
  tell_switches(state);
}

void RoleIntake::score(const TaskState& state, const search::Individual& judged) {
  setup_.journal.store().add_prompt_arm(
      judged.id, judged.ask->variant, judged.ask->memory, judged.ask->exemplar,
      search::gain_over_parent(*state.search, judged, evaluators::kEvaluatorVersion));
  score_judge(judged);
  score_verifier(state, judged);
  if (const search::ForecastScore* forecast = state.search->forecast_of(judged.id)) {
    setup_.journal.store().add_forecast_score(setup_.journal.run(), forecast->key,
                                              {forecast->ratio, forecast->score,
                                               forecast->model_free, forecast->chance,
                                               forecast->is_audit, forecast->beats_best});
  }
}

void RoleIntake::score_judge(const search::Individual& child) {
  const std::string& key = child.ask->advice;
  if (key.empty() || child.outcome->verdict != tasks::Verdict::Correct) {
    return;
  }
  const auto advice = setup_.journal.store().find_advice(setup_.journal.run(), key);
  if (!advice || advice->content.empty()) {
    return;
  }
  const auto parent = record_facts(shelf_.at(advice->candidate).evaluation);
  const auto own = record_facts(shelf_.at(child.id).evaluation);
  setup_.journal.store().add_advice_scores(setup_.journal.run(), key,
                                           judge_scores(advice->content, parent, own, child.id));
}

void RoleIntake::score_verifier(const TaskState& state, const search::Individual& judged) {
  const auto advice = setup_.journal.store().advice_about(judged.id, "verifier");
  const bool is_left_out = judged.outcome->verdict == tasks::Verdict::NotJudged;
  if (!advice || advice->content.empty() || is_left_out) {
    return;
  }
  const bool rejected = nlohmann::json::parse(advice->content).at("verdict") == "reject";
  if (rejected && !search::runs_anyway(search_settings(setup_.config, *state.task), judged.id)) {
    return; // nobody knows
  }
  const bool failed = judged.outcome->verdict != tasks::Verdict::Correct;
  setup_.journal.store().add_advice_scores(
      setup_.journal.run(), advice->key,
      {{judged.id, "fails", rejected ? 1.0 : 0.0, failed ? 1.0 : 0.0, rejected == failed}});
}

/// Once for each run, even if it is resumed.
void RoleIntake::tell_switches(const TaskState& state) {
  for (const search::RoleStanding& standing : state.search->roles()) {
    const std::string name = state.task->name + "/" + standing.role;
    if (standing.off.empty() || !told_.insert(name).second) {
      continue;
    }
    const nlohmann::json detail{{"task", state.task->name},
                                {"role", standing.role},
                                {"after_calls", standing.calls},
                                {"reason", standing.off}};
    if (!setup_.journal.has_event(kSwitchedOff, detail)) {
      setup_.journal.event(kSwitchedOff, detail);
    }
    setup_.progress.event(fmt::format("{}: the {} is switched off: {}", state.task->name,
                                      standing.role, standing.off),
                          Progress::Weight::Important);
  }
}

} // namespace winnow::harness
