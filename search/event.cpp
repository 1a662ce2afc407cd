#include "search/event.h"

#include "base/error.h"

#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

using nlohmann::json;

template <typename... Functions> struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions> Overloaded(Functions...) -> Overloaded<Functions...>;

json card_json(const Card& card) {
  return {{"candidate", card.candidate}, {"number", card.number}};
}

Card card_from(const json& card) {
  return {card.at("candidate"), card.at("number")};
}

json cards_json(const std::vector<Card>& cards) {
  json written = json::array();
  for (const Card& card : cards) {
    written.push_back(card_json(card));
  }
  return written;
}

/// An absent list stands for none.
std::vector<Card> cards_from(const json& ask, const char* name) {
  std::vector<Card> cards;
  for (const json& card : ask.value(name, json::array())) {
    cards.push_back(card_from(card));
  }
  return cards;
}

std::optional<Card> optional_card(const json& ask, const char* name) {
  const auto card = ask.find(name);
  return card == ask.end() ? std::nullopt : std::optional(card_from(*card));
}

/// Runs without roles have none of these fields.
void write_role_fields(json& written, const Ask& ask) {
  for (const auto& [name, text] : {std::pair{"advice", &ask.advice},
                                   {"variant", &ask.variant},
                                   {"waiting_key", &ask.waiting_key},
                                   {"waiting_operator", &ask.waiting_op},
                                   {"waiting_model", &ask.waiting_model}}) {
    if (!text->empty()) {
      written[name] = *text;
    }
  }
  if (ask.memory) {
    written["memory"] = true;
  }
  if (ask.exemplar) {
    written["exemplar"] = true;
  }
}

json ask_json(const Ask& ask) {
  json written{{"ask", ask.key},     {"lineage", ask.lineage},
               {"operator", ask.op}, {"parents", ask.parents},
               {"older", ask.older}, {"history", cards_json(ask.history)}};
  if (!ask.model.empty()) {
    written["model"] = ask.model;
  }
  if (!ask.families.empty()) {
    written["families"] = cards_json(ask.families);
  }
  if (!ask.failures.empty()) {
    written["failures"] = cards_json(ask.failures);
  }
  if (ask.best) {
    written["best"] = card_json(*ask.best);
  }
  if (ask.previous) {
    written["previous"] = card_json(*ask.previous);
  }
  if (ask.second) {
    written["second"] = card_json(*ask.second);
  }
  write_role_fields(written, ask);
  return written;
}

/// Most candidates have no parameters to tune, so absent fields stand for none.
void write_choices(json& written, const std::vector<tasks::ParameterChoice>& choices, int turns) {
  if (!choices.empty()) {
    written["choices"] = choices;
  }
  if (turns > 0) {
    written["turns"] = turns;
  }
}

template <typename Event> void read_choices(const json& written, Event& event) {
  event.choices = written.value("choices", std::vector<tasks::ParameterChoice>{});
  event.turns = written.value("turns", 0);
}

json trial_json(const Trial& trial) {
  return {{"choice", trial.choice},
          {"verdict", to_string(trial.verdict)},
          {"machine_code", trial.machine_code},
          {"speeds", trial.speeds}};
}

Trial trial_from(const json& trial) {
  const auto& verdict = trial.at("verdict").get_ref<const std::string&>();
  return {trial.at("choice"), tasks::verdict_from_string(verdict).value(), trial.at("machine_code"),
          trial.at("speeds")};
}

json action_json(const Action& action) {
  if (const auto* ask = std::get_if<Ask>(&action)) {
    return ask_json(*ask);
  }
  const auto& evaluate = std::get<Evaluate>(action);
  json written{{"evaluate", evaluate.candidate}};
  if (evaluate.incumbent) {
    written["incumbent"] = *evaluate.incumbent;
  }
  write_choices(written, evaluate.choices, evaluate.turns);
  return written;
}

Action action_from(const json& action) {
  if (action.contains("evaluate")) {
    Evaluate evaluate;
    action.at("evaluate").get_to(evaluate.candidate);
    read_choices(action, evaluate);
    if (action.contains("incumbent")) {
      evaluate.incumbent = action.at("incumbent").get<CandidateId>();
    }
    return evaluate;
  }
  Ask ask;
  action.at("ask").get_to(ask.key);
  action.at("lineage").get_to(ask.lineage);
  action.at("operator").get_to(ask.op);
  ask.model = action.value("model", "");
  action.at("parents").get_to(ask.parents);
  action.at("older").get_to(ask.older);
  ask.best = optional_card(action, "best");
  ask.previous = optional_card(action, "previous");
  ask.second = optional_card(action, "second");
  ask.history = cards_from(action, "history");
  ask.families = cards_from(action, "families");
  ask.failures = cards_from(action, "failures");
  ask.advice = action.value("advice", "");
  ask.variant = action.value("variant", "");
  ask.memory = action.value("memory", false);
  ask.exemplar = action.value("exemplar", false);
  ask.waiting_key = action.value("waiting_key", "");
  ask.waiting_op = action.value("waiting_operator", "");
  ask.waiting_model = action.value("waiting_model", "");
  return ask;
}

Event parsed(const std::string& kind, const json& detail) {
  if (kind == "decided") {
    return Decided{action_from(detail.at("action")),
                   {detail.at("asks"), detail.value("evaluations", Capacity::kUnlimited)}};
  }
  if (kind == "added") {
    return Added{detail.at("candidate"), detail.at("key"), detail.at("dollars"),
                 detail.value("choices", std::vector<tasks::ParameterChoice>{}),
                 detail.value("facts", std::map<std::string, double>{})};
  }
  if (kind == "evaluated") {
    return Evaluated{detail.at("candidate"), detail.at("outcome")};
  }
  if (kind == "tried") {
    Tried tried{detail.at("candidate"), {}, detail.at("device_seconds")};
    for (const json& trial : detail.at("trials")) {
      tried.trials.push_back(trial_from(trial));
    }
    return tried;
  }
  if (kind == "faulted") {
    Faulted faulted{detail.at("candidate"), {}, 0};
    read_choices(detail, faulted);
    return faulted;
  }
  if (kind == "unanswered") {
    return Unanswered{detail.at("key")};
  }
  if (kind == "resumed") {
    return Resumed{};
  }
  if (kind == "advised") {
    const json& advice = detail.at("advice");
    return Advised{detail.at("key"), advice.is_null() ? "" : advice.dump(), detail.at("dollars"),
                   detail.at("seconds")};
  }
  if (kind == "withdrawn") {
    return Withdrawn{detail.at("candidate"), detail.at("choice").get<tasks::ParameterChoice>()};
  }
  throw Error("its kind '" + kind + "' is unknown");
}

} // namespace

LogEntry entry_of(const Event& event) {
  return std::visit(
      Overloaded{
          [](const Decided& decided) -> LogEntry {
            json written{{"action", action_json(decided.action)}, {"asks", decided.capacity.asks}};
            if (decided.capacity.evaluations != Capacity::kUnlimited) {
              written["evaluations"] = decided.capacity.evaluations;
            }
            return {"decided", written.dump()};
          },
          [](const Added& added) -> LogEntry {
            json written{
                {"candidate", added.candidate}, {"key", added.key}, {"dollars", added.dollars}};
            write_choices(written, added.choices, 0);
            if (!added.facts.empty()) {
              written["facts"] = added.facts;
            }
            return {"added", written.dump()};
          },
          [](const Evaluated& evaluated) -> LogEntry {
            return {
                "evaluated",
                json{{"candidate", evaluated.candidate}, {"outcome", evaluated.outcome}}.dump()};
          },
          [](const Tried& tried) -> LogEntry {
            json written{{"candidate", tried.candidate},
                         {"trials", json::array()},
                         {"device_seconds", tried.device_seconds}};
            for (const Trial& trial : tried.trials) {
              written["trials"].push_back(trial_json(trial));
            }
            return {"tried", written.dump()};
          },
          [](const Faulted& faulted) -> LogEntry {
            json written{{"candidate", faulted.candidate}};
            write_choices(written, faulted.choices, faulted.turns);
            return {"faulted", written.dump()};
          },
          [](const Unanswered& unanswered) -> LogEntry {
            return {"unanswered", json{{"key", unanswered.key}}.dump()};
          },
          [](const Resumed&) -> LogEntry {
            return {"resumed", "{}"};
          },
          [](const Withdrawn& withdrawn) -> LogEntry {
            return {"withdrawn",
                    json{{"candidate", withdrawn.candidate}, {"choice", withdrawn.choice}}.dump()};
          },
          [](const Advised& advised) -> LogEntry {
            return {"advised",
                    json{{"key", advised.key},
                         {"advice", advised.advice.empty() ? json() : json::parse(advised.advice)},
                         {"dollars", advised.dollars},
                         {"seconds", advised.seconds}}
                        .dump()};
          }},
      event);
}

Event event_of(const LogEntry& entry) {
  try {
    return parsed(entry.kind, json::parse(entry.detail));
  } catch (const std::exception& error) {
    throw Error("the search log has an entry that cannot be read: " + std::string(error.what()),
                "the store was changed by hand; start a new run");
  }
}

} // namespace winnow::search
