#include "search/event.h"

#include "base/error.h"
#include "search/log_json.h"

#include <algorithm>
#include <array>
#include <utility>

namespace winnow::search {

using nlohmann::json;

template <typename Value, typename T>
concept IsOf = std::same_as<std::remove_const_t<Value>, T>;

template <typename Io, IsOf<Outcome> Value> void list_fields(Io& io, Value& outcome) {
  io.field("verdict", outcome.verdict);
  io.field("evaluator_version", outcome.evaluator_version);
  io.field("kernel", outcome.kernel);
  io.field("speedup", outcome.speedup);
  io.field("speedup_low", outcome.speedup_bounds.low);
  io.field("speedup_high", outcome.speedup_bounds.high);
  io.field("hidden_speedup", outcome.hidden_speedup);
  io.field("promoted", outcome.promoted);
  io.field("speed_of_light", outcome.speed_of_light);
  io.field("cell", outcome.cell);
  io.field("device_seconds", outcome.device_seconds);
  io.optional("code", outcome.code);
  io.optional("race", outcome.race);
}

template <typename Io, IsOf<Ask> Value> void list_fields(Io& io, Value& ask) {
  io.field("ask", ask.key);
  io.field("lineage", ask.lineage);
  io.field("operator", ask.op);
  io.field("parents", ask.parents);
  io.field("older", ask.older);
  io.field("history", ask.history);
  io.optional("model", ask.model);
  io.optional("families", ask.families);
  io.optional("failures", ask.failures);
  io.optional("best", ask.best);
  io.optional("previous", ask.previous);
  io.optional("second", ask.second);
  io.optional("advice", ask.advice);
  io.optional("variant", ask.variant);
  io.optional("waiting_key", ask.waiting_key);
  io.optional("waiting_operator", ask.waiting_op);
  io.optional("waiting_model", ask.waiting_model);
  io.optional("mission", ask.mission);
  io.optional("mission_repeats", ask.mission_repeats);
  io.optional("memory", ask.memory);
  io.optional("exemplar", ask.exemplar);
}

template <typename Io, IsOf<Evaluate> Value> void list_fields(Io& io, Value& evaluate) {
  io.field("evaluate", evaluate.candidate);
  io.optional("incumbent", evaluate.incumbent);
  io.optional("choices", evaluate.choices);
  io.optional("turns", evaluate.turns);
}

void to_json(json& to, const Action& action) {
  std::visit([&](const auto& what) { to = what; }, action);
}

void from_json(const json& from, Action& action) {
  if (from.contains("evaluate")) {
    action = from.get<Evaluate>();
  } else {
    action = from.get<Ask>();
  }
}

template <typename Io, IsOf<Decided> Value> void list_fields(Io& io, Value& decided) {
  io.field("action", decided.action);
  io.field("asks", decided.capacity.asks);
  io.optional("evaluations", decided.capacity.evaluations, Capacity::kUnlimited);
}

template <typename Io, IsOf<Added> Value> void list_fields(Io& io, Value& added) {
  io.field("candidate", added.candidate);
  io.field("key", added.key);
  io.field("dollars", added.dollars);
  io.optional("choices", added.choices);
  io.optional("facts", added.facts);
}

template <typename Io, IsOf<Faulted> Value> void list_fields(Io& io, Value& faulted) {
  io.field("candidate", faulted.candidate);
  io.optional("choices", faulted.choices);
  io.optional("turns", faulted.turns);
}

template <typename Io, IsOf<Advised> Value> void list_fields(Io& io, Value& advised) {
  io.field("key", advised.key);
  io.text("advice", advised.advice);
  io.field("dollars", advised.dollars);
  io.field("seconds", advised.seconds);
}

template <typename Io, IsOf<Resumed> Value> void list_fields(Io& /*io*/, Value& /*resumed*/) {}

namespace {

/// In the order of Event.
constexpr std::array<const char*, std::variant_size_v<Event>> kKinds{
    "decided", "added",   "evaluated", "tried",  "faulted", "unanswered",
    "resumed", "advised", "withdrawn", "enough", "granted"};

template <std::size_t... I>
Event event_from(std::size_t kind, const json& detail, std::index_sequence<I...> /*all*/) {
  Event event;
  ((kind == I ? void(event = detail.get<std::variant_alternative_t<I, Event>>()) : void()), ...);
  return event;
}

} // namespace

LogEntry entry_of(const Event& event) {
  return {kKinds.at(event.index()),
          std::visit([](const auto& what) { return json(what).dump(); }, event)};
}

Event event_of(const LogEntry& entry) {
  try {
    const auto kind = std::find(kKinds.begin(), kKinds.end(), entry.kind);
    if (kind == kKinds.end()) {
      throw Error("its kind '" + entry.kind + "' is unknown");
    }
    return event_from(static_cast<std::size_t>(kind - kKinds.begin()), json::parse(entry.detail),
                      std::make_index_sequence<kKinds.size()>());
  } catch (const std::exception& error) {
    throw Error("the search log has an entry that cannot be read: " + std::string(error.what()),
                "the store was changed by hand; start a new run");
  }
}

} // namespace winnow::search
