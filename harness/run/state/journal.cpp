#include "harness/run/state/journal.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {

store::RowId Journal::begin_call(store::RowId task, const agents::ModelRequest& request,
                                 std::string_view endpoint,
                                 const std::optional<store::CallReservation>& reserved) {
  return store_.begin_call(run_, task, request.key, endpoint, request.model, request_json(request),
                           reserved);
}

void Journal::end_unanswered(store::RowId call, const agents::ModelReply& reply) {
  const agents::EstimatedCost estimated = reply.estimated.value_or(agents::EstimatedCost());
  store_.transaction([&] {
    store_.set_reservation(call, std::nullopt);
    if (reply.usage.tokens() > 0) {
      store_.add_counted(call, reply.usage, reply.dollars);
    }
    store_.add_lost(call, {estimated.requests, estimated.tokens, estimated.dollars});
  });
}

std::optional<agents::ModelReply> Journal::recorded_reply(store::RowId call) const {
  const std::optional<store::ModelCallRow> row = store_.find_reply(call);
  if (!row) {
    return std::nullopt;
  }
  agents::ModelReply reply = reply_from_row(*row);
  reply.served_from = row->id;
  reply.dollars = 0;
  reply.price.reset();
  reply.seconds = 0;
  reply.first_token_seconds.reset();
  return reply;
}

void Journal::finish_call(store::RowId call, const agents::ModelRequest& request,
                          const agents::ModelReply& reply) {
  store::ModelCallRow row;
  static_cast<tasks::ModelAnswer&>(row) = reply;
  row.model = reply.model.empty() ? request.model : reply.model;
  row.status = "ok";
  row.price = reply.price ? agents::price_json(*reply.price).dump() : "";
  const agents::EstimatedCost estimated = reply.served_from
                                              ? agents::EstimatedCost()
                                              : reply.estimated.value_or(agents::EstimatedCost());
  store_.transaction([&] {
    store_.finish_call(call, row);
    store_.add_lost(call, {estimated.requests, estimated.tokens, estimated.dollars});
  });
}

bool Journal::has_event(std::string_view kind, const nlohmann::json& detail) const {
  const std::vector<store::EventRow> events = store_.events(run_);
  return std::any_of(events.begin(), events.end(), [&](const store::EventRow& event) {
    return event.kind == kind && nlohmann::json::parse(event.detail, nullptr, false) == detail;
  });
}

void Journal::event(std::string_view kind, const nlohmann::json& detail) {
  store_.add_event(run_, kind, detail);
}

void Journal::log(store::RowId task, const search::Event& event) {
  const search::LogEntry entry = search::entry_of(event);
  store_.append_search_log(run_, task, entry.kind, entry.detail);
}

void Journal::batch(const std::function<void()>& work) {
  is_in_batch_ = true;
  try {
    store_.transaction(work);
  } catch (...) {
    is_in_batch_ = false;
    when_durable_.clear();
    throw;
  }
  is_in_batch_ = false;
  for (const std::function<void()>& action : std::exchange(when_durable_, {})) {
    action();
  }
}

void Journal::when_durable(std::function<void()> action) {
  if (is_in_batch_) {
    when_durable_.push_back(std::move(action));
  } else {
    action();
  }
}

std::vector<search::Event> Journal::search_events(store::RowId task) const {
  std::vector<search::Event> events;
  for (store::SearchLogRow& row : store_.search_log(run_, task)) {
    events.push_back(search::event_of({std::move(row.kind), std::move(row.detail)}));
  }
  return events;
}

double seconds(std::chrono::milliseconds duration) {
  return static_cast<double>(duration.count()) / 1000;
}

std::chrono::milliseconds elapsed_before(const std::vector<store::EventRow>& events) {
  std::chrono::milliseconds latest{0};
  for (const store::EventRow& event : events) {
    const auto detail = nlohmann::json::parse(event.detail, nullptr, false);
    if (detail.is_object() && detail.contains(kElapsedSeconds)) {
      const double value = detail[kElapsedSeconds].get<double>();
      latest = std::max(latest, std::chrono::milliseconds(static_cast<std::int64_t>(value * 1000)));
    }
  }
  return latest;
}

nlohmann::json request_json(const agents::ModelRequest& request) {
  nlohmann::json messages = nlohmann::json::array();
  for (const agents::Message& message : request.messages) {
    messages.push_back({{"role", message.role}, {"content", message.text}});
    if (message.end_of_prefix) {
      messages.back()["end_of_prefix"] = true;
    }
  }
  nlohmann::json json{{"model", request.model}, {"messages", messages}};
  if (request.temperature >= 0) {
    json["temperature"] = request.temperature;
  }
  if (request.max_output_tokens > 0) {
    json["max_output_tokens"] = request.max_output_tokens;
  }
  if (!request.effort.empty()) {
    json["effort"] = request.effort;
  }
  if (request.schema) {
    json["schema"] = {{"name", request.schema->name}, {"schema", request.schema->schema}};
  }
  return json;
}

agents::ModelReply reply_from_row(const store::ModelCallRow& row) {
  agents::ModelReply reply;
  static_cast<tasks::ModelAnswer&>(reply) = row;
  reply.status = agents::ModelReply::Status::Ok;
  reply.price = agents::price_from_json(nlohmann::json::parse(row.price, nullptr, false));
  return reply;
}

} // namespace winnow::harness
