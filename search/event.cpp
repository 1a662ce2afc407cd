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

std::optional<Card> optional_card(const json& ask, const char* name) {
  const auto card = ask.find(name);
  return card == ask.end() ? std::nullopt : std::optional(card_from(*card));
}

json ask_json(const Ask& ask) {
  json written{{"ask", ask.key},         {"lineage", ask.lineage}, {"operator", ask.op},
               {"parents", ask.parents}, {"older", ask.older},     {"history", json::array()}};
  for (const Card& card : ask.history) {
    written["history"].push_back(card_json(card));
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
  return written;
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
  return written;
}

Action action_from(const json& action) {
  if (action.contains("evaluate")) {
    Evaluate evaluate{action.at("evaluate"), std::nullopt};
    if (action.contains("incumbent")) {
      evaluate.incumbent = action.at("incumbent").get<CandidateId>();
    }
    return evaluate;
  }
  Ask ask;
  action.at("ask").get_to(ask.key);
  action.at("lineage").get_to(ask.lineage);
  action.at("operator").get_to(ask.op);
  action.at("parents").get_to(ask.parents);
  action.at("older").get_to(ask.older);
  ask.best = optional_card(action, "best");
  ask.previous = optional_card(action, "previous");
  ask.second = optional_card(action, "second");
  for (const json& card : action.at("history")) {
    ask.history.push_back(card_from(card));
  }
  return ask;
}

Event parsed(const std::string& kind, const json& detail) {
  if (kind == "decided") {
    return Decided{action_from(detail.at("action")), {detail.at("asks")}};
  }
  if (kind == "added") {
    return Added{detail.at("candidate"), detail.at("key"), detail.at("dollars")};
  }
  if (kind == "evaluated") {
    return Evaluated{detail.at("candidate"), detail.at("outcome")};
  }
  if (kind == "faulted") {
    return Faulted{detail.at("candidate")};
  }
  if (kind == "unanswered") {
    return Unanswered{detail.at("key")};
  }
  if (kind == "resumed") {
    return Resumed{};
  }
  throw Error("its kind '" + kind + "' is unknown");
}

} // namespace

LogEntry entry_of(const Event& event) {
  return std::visit(
      Overloaded{
          [](const Decided& decided) -> LogEntry {
            return {"decided",
                    json{{"action", action_json(decided.action)}, {"asks", decided.capacity.asks}}
                        .dump()};
          },
          [](const Added& added) -> LogEntry {
            return {
                "added",
                json{{"candidate", added.candidate}, {"key", added.key}, {"dollars", added.dollars}}
                    .dump()};
          },
          [](const Evaluated& evaluated) -> LogEntry {
            return {
                "evaluated",
                json{{"candidate", evaluated.candidate}, {"outcome", evaluated.outcome}}.dump()};
          },
          [](const Faulted& faulted) -> LogEntry {
            return {"faulted", json{{"candidate", faulted.candidate}}.dump()};
          },
          [](const Unanswered& unanswered) -> LogEntry {
            return {"unanswered", json{{"key", unanswered.key}}.dump()};
          },
          [](const Resumed&) -> LogEntry {
            return {"resumed", "{}"};
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
