// The RunStore methods for tasks, prompts and model calls.
#include "base/digest.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "store/fields.h"
#include "store/run_store.h"
#include "store/task_notes.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using tasks::ModelAnswer;

constexpr FieldRules kAnswer{"text model usage", "request_id"};

using nlohmann::json;

constexpr const char* kPromptReference = "$prompt";

json define_tensors(const tasks::Task& task) {
  json tensors = json::array();
  for (const tasks::TensorSpec& tensor : task.tensors) {
    json shape = json::array();
    for (const tasks::Expression& extent : tensor.shape) {
      shape.push_back(extent.text());
    }
    tensors.push_back({{"name", tensor.name},
                       {"role", to_string(tensor.role)},
                       {"dtype", to_string(tensor.dtype)},
                       {"shape", shape},
                       {"description", tensor.description}});
  }
  return tensors;
}

/// The facts about a task for people who browse the store. Other columns have the whole files.
json define_task(const tasks::Task& task) {
  json axes = json::array();
  for (const tasks::Axis& axis : task.axes) {
    axes.push_back({{"name", axis.name}, {"description", axis.description}});
  }
  json scalars = json::array();
  for (const tasks::ScalarSpec& scalar : task.scalars) {
    scalars.push_back({{"name", scalar.name},
                       {"dtype", to_string(scalar.dtype)},
                       {"value", scalar.value},
                       {"low", scalar.low},
                       {"high", scalar.high}});
  }
  json shapes = json::array();
  for (const tasks::Shape& shape : task.shapes) {
    shapes.push_back({{"id", shape.id},
                      {"set", to_string(shape.set)},
                      {"axes", shape.axes},
                      {"scalars", shape.scalars},
                      {"devices", shape.devices}});
  }
  return {{"axes", axes},
          {"tensors", define_tensors(task)},
          {"scalars", scalars},
          {"shapes", shapes},
          {"tolerance",
           {{"precision", to_string(task.tolerance.precision)},
            {"accumulate", to_string(task.tolerance.accumulate)},
            {"multiple", task.tolerance.multiple.text()},
            {"norm_multiple", task.tolerance.norm_multiple.text()},
            {"absolute", task.tolerance.absolute},
            {"nan", task.tolerance.nan_allowed}}},
          {"operations", task.operations.text()},
          {"bytes", task.bytes.text()},
          {"flags", task.source.flags},
          {"cpu_baseline", !task.cpu_baseline.empty()}};
}

RowId add_prompt(Database& database, const std::string& text, const std::string& digest) {
  return Query(database, "INSERT INTO prompts (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .bind(digest, text)
      .insert_or_find("SELECT id FROM prompts WHERE digest = ?", digest);
}

/// The member of a message with its text; nullptr if there is none.
json* message_text(json& message) {
  for (const char* member : {"content", "text"}) {
    if (message.is_object() && message.contains(member)) {
      return &message[member];
    }
  }
  return nullptr;
}

/// Appends a text as json_line() writes it. Prompts are long, and json_line() decodes each byte.
void append_quoted(std::string& line, const std::string& text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  const auto is_special = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  };
  if (!std::all_of(text.begin(), text.end(), is_ascii) && find_invalid_utf8(text)) {
    line += json_line(text);
    return;
  }
  line += '"';
  for (auto at = text.begin(); at != text.end();) {
    const auto special = std::find_if(at, text.end(), is_special);
    line.append(at, special);
    at = special;
    if (at != text.end()) {
      const std::string escaped = json_line(std::string(1, *at++)); // with quotes
      line.append(escaped, 1, escaped.size() - 2);
    }
  }
  line += '"';
}

/// A request as the store keeps it.
struct StoredRequest {
  std::string line;                                         ///< with references to its texts
  std::string digest;                                       ///< of the request with its texts
  std::vector<std::pair<std::int64_t, RowId>> prompts = {}; ///< by position
};

StoredRequest store_prompts(Database& database, json request) {
  struct Text {
    std::string content, reference;
  };
  std::vector<Text> texts;
  StoredRequest stored;
  std::int64_t position = 0;
  const bool has_messages = request.is_object() && request.contains("messages");
  json none = json::array();
  for (json& message : has_messages ? request["messages"] : none) {
    json* text = message_text(message);
    if (text != nullptr && text->is_string()) {
      std::string content = std::move(text->get_ref<std::string&>());
      const std::string digest = sha256_hex(content);
      stored.prompts.emplace_back(position, add_prompt(database, content, digest));
      *text = {{kPromptReference, digest}};
      texts.push_back({std::move(content), json_line(*text)});
    }
    ++position;
  }
  stored.line = json_line(request);
  std::string full;
  std::size_t at = 0;
  for (const Text& text : texts) {
    const std::size_t reference = stored.line.find(text.reference, at);
    full.append(stored.line, at, reference - at);
    append_quoted(full, text.content);
    at = reference + text.reference.size();
  }
  stored.digest = sha256_hex(full.append(stored.line, at));
  return stored;
}

/// The original request of begin_call().
std::string restore_request(const Database& database, const std::string& stored) {
  json request = json::parse(stored);
  if (!request.is_object() || !request.contains("messages")) {
    return stored;
  }
  Query query(database, "SELECT text FROM prompts WHERE digest = ?");
  for (json& message : request["messages"]) {
    json* text = message_text(message);
    if (text == nullptr || !text->is_object() || text->size() != 1 ||
        !text->contains(kPromptReference)) {
      continue;
    }
    const json& digest = (*text)[kPromptReference];
    if (digest.is_string() && query.bind(digest.get_ref<const std::string&>()).next()) {
      *text = query.text("text");
    }
  }
  return json_line(request);
}

struct KnownCall {
  RowId id = 0;
  bool pending = false;
};

std::optional<KnownCall> find_call(const Database& database, RowId run, std::string_view key) {
  Query query(
      database,
      "SELECT id, status = 'pending' AS pending FROM model_calls WHERE run_id = ? AND key = ?");
  if (!query.bind(run, key).next()) {
    return std::nullopt;
  }
  return KnownCall{query.integer("id"), query.integer("pending") != 0};
}

ModelCallRow read_call(const Database& database, const Query& query) {
  ModelCallRow call{{},
                    query.integer("id"),
                    query.text("key"),
                    query.text("endpoint"),
                    restore_request(database, query.text("request")),
                    query.text("status"),
                    query.text("error"),
                    query.text("price"),
                    query.text("started_at"),
                    query.text("request_digest")};
  call.text = query.text("reply");
  call.model = query.text("model");
  read_row<ModelAnswer>(query, call, kAnswer);
  read_row(query, call.usage);
  return call;
}

/// `which` is the text after WHERE; the values are bound in order.
template <typename... Values>
std::vector<ModelCallRow> read_calls(const Database& database, const char* which,
                                     const Values&... values) {
  std::vector<ModelCallRow> calls;
  Query query(
      database,
      fmt::format("SELECT id, key, endpoint, coalesce(answering_model, model) AS model, request, "
                  "reply, status, error, price, started_at, request_digest, {}, {} "
                  "FROM model_calls WHERE {}",
                  columns<ModelAnswer>(kAnswer), columns<tasks::Usage>(), which));
  query.bind(values...);
  while (query.next()) {
    calls.push_back(read_call(database, query));
  }
  return calls;
}

std::optional<std::int64_t> tokens_of(const std::optional<CallReservation>& reserved) {
  return reserved ? std::optional(reserved->tokens) : std::nullopt;
}
std::optional<double> dollars_of(const std::optional<CallReservation>& reserved) {
  return reserved ? std::optional(reserved->dollars) : std::nullopt;
}

/// What the provider has counted for earlier sendings of a call without a reply.
ModelCallRow counted_so_far(const Database& database, RowId call) {
  ModelCallRow row;
  Query query(database, fmt::format("SELECT dollars, {} FROM model_calls WHERE id = ?",
                                    columns<tasks::Usage>()));
  if (query.bind(call).next()) {
    read_row(query, row.usage);
    row.dollars = query.optional_real("dollars");
  }
  return row;
}

void add(ModelCallRow& sum, const ModelCallRow& row) {
  sum.usage += row.usage;
  if (row.dollars) {
    sum.dollars = sum.dollars.value_or(0) + *row.dollars;
  }
}

bool is_counted(const ModelCallRow& row) {
  return row.usage.tokens() > 0;
}

/// The outcome with what earlier sendings cost. The cost of a reply from a record is that of
/// another call, and an unknown cost is no sum: then the earlier cost counts as lost.
ModelCallRow with_earlier(Database& database, RowId call, ModelCallRow outcome) {
  const ModelCallRow earlier = counted_so_far(database, call);
  if (!is_counted(earlier)) {
    return outcome;
  }
  if (!outcome.served_from && outcome.dollars.has_value() == earlier.dollars.has_value()) {
    add(outcome, earlier);
    return outcome;
  }
  Query(database, "UPDATE model_calls SET lost_sendings = lost_sendings + 1, "
                  "lost_tokens = lost_tokens + ?2, lost_dollars = lost_dollars + ?3 WHERE id = ?1")
      .bind(call, earlier.usage.tokens(), earlier.dollars.value_or(0))
      .run();
  return outcome;
}

/// Sends an interrupted call again. The earlier sending may have been billed, so its reservation
/// counts as lost.
void begin_again(Database& database, RowId call, std::string_view endpoint, std::string_view model,
                 const std::string& request, const std::string& digest,
                 const std::optional<CallReservation>& reserved) {
  Query(database,
        "UPDATE model_calls SET endpoint = ?, model = ?, request = ?, request_digest = ?, "
        "started_at = ?, times_sent = times_sent + 1, "
        "lost_sendings = lost_sendings + (reserved_tokens IS NOT NULL), "
        "lost_tokens = lost_tokens + coalesce(reserved_tokens, 0), "
        "lost_dollars = lost_dollars + coalesce(reserved_dollars, 0.0), "
        "reserved_tokens = ?, reserved_dollars = ? WHERE id = ?")
      .bind(endpoint, model, request, digest, utc_now(), tokens_of(reserved), dollars_of(reserved),
            call)
      .run();
  Query(database, "DELETE FROM call_prompts WHERE call_id = ?").bind(call).run();
}

} // namespace

RowId RunStore::add_task(const tasks::Task& task) {
  return database_.write([&] {
    Query(database_, "INSERT INTO tasks (digest, name, category, title, description, definition, "
                     "reference_source, baseline_source, python_source, created_at) "
                     "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name, digest) DO UPDATE "
                     "SET definition = excluded.definition "
                     "WHERE definition <> excluded.definition") // an earlier version says less
        .bind(task.digest, task.name, task.category, task.title, task.description,
              json_line(define_task(task)), task.reference, tasks::task_texts(task).baseline,
              task.reference_python, utc_now())
        .run();
    keep_task_folder(database_, task);
    Query query(database_, "SELECT id FROM tasks WHERE name = ? AND digest = ?");
    query.bind(task.name, task.digest).next();
    return query.integer("id");
  });
}

RowId RunStore::begin_call(RowId run, RowId task, std::string_view key, std::string_view endpoint,
                           std::string_view model, json request,
                           const std::optional<CallReservation>& reserved) {
  return database_.write([&] {
    std::optional<KnownCall> call = find_call(database_, run, key);
    if (call && !call->pending) {
      return call->id;
    }
    const StoredRequest stored = store_prompts(database_, std::move(request));
    if (call) {
      begin_again(database_, call->id, endpoint, model, stored.line, stored.digest, reserved);
    } else {
      Query(database_, "INSERT INTO model_calls (run_id, task_id, key, endpoint, model, status, "
                       "times_sent, request, request_digest, started_at, reserved_tokens, "
                       "reserved_dollars) VALUES (?, ?, ?, ?, ?, 'pending', 1, ?, ?, ?, ?, ?)")
          .bind(run, task, key, endpoint, model, stored.line, stored.digest, utc_now(),
                tokens_of(reserved), dollars_of(reserved))
          .run();
      call = KnownCall{database_.last_insert_id(), true};
    }
    Query link(database_,
               "INSERT INTO call_prompts (call_id, position, prompt_id) VALUES (?, ?, ?)");
    for (const auto& [position, prompt] : stored.prompts) {
      link.bind(call->id, position, prompt).run();
    }
    return call->id;
  });
}

void RunStore::set_reservation(RowId call, const std::optional<CallReservation>& reserved) {
  database_.write([&] {
    Query(database_, "UPDATE model_calls SET reserved_tokens = ?, reserved_dollars = ? "
                     "WHERE id = ? AND status = 'pending'")
        .bind(tokens_of(reserved), dollars_of(reserved), call)
        .run();
  });
}

void RunStore::add_lost(RowId call, const LostCost& lost) {
  if (lost.sendings == 0) {
    return;
  }
  database_.write([&] {
    Query(database_, "UPDATE model_calls SET lost_sendings = lost_sendings + ?, "
                     "lost_tokens = lost_tokens + ?, lost_dollars = lost_dollars + ? WHERE id = ?")
        .bind(lost.sendings, lost.tokens, lost.dollars, call)
        .run();
  });
}

void RunStore::add_counted(RowId call, const tasks::Usage& usage, std::optional<double> dollars) {
  database_.write([&] {
    ModelCallRow sum = counted_so_far(database_, call);
    ModelCallRow row;
    row.usage = usage;
    row.dollars = dollars;
    add(sum, row);
    Query update(database_, fmt::format("UPDATE model_calls SET dollars = ?2, {} WHERE id = ?1 AND "
                                        "status = 'pending'",
                                        assigned(field_names<tasks::Usage>())));
    bind_fields(update.bind(call, sum.dollars), sum.usage).run();
  });
}

void RunStore::credit_call(RowId call, std::string_view model) {
  database_.write([&] {
    Query(database_, "UPDATE model_calls SET model = ? WHERE id = ? AND status = 'pending'")
        .bind(model, call)
        .run();
  });
}

void RunStore::finish_call(RowId call, const ModelCallRow& outcome) {
  if (outcome.status != "ok" && outcome.status != "failed") {
    throw Error(
        fmt::format("a finished model call is \"ok\" or \"failed\", not \"{}\"", outcome.status));
  }
  database_.write([&] {
    Query known(database_, "SELECT status FROM model_calls WHERE id = ?");
    if (!known.bind(call).next()) {
      throw Error(
          fmt::format("the store {} has no model call {}", database_.path().string(), call));
    }
    if (known.text("status") != "pending") {
      return;
    }
    const ModelCallRow whole = with_earlier(database_, call, outcome);
    Query update(database_, fmt::format("UPDATE model_calls SET status = ?2, reply = ?3, error = "
                                        "?4, price = nullif(?5, ''), answering_model = "
                                        "nullif(?6, ''), finished_at = ?7, {}, {} WHERE id = ?1",
                                        assigned(field_names<ModelAnswer>(kAnswer)),
                                        assigned(field_names<tasks::Usage>())));
    update.bind(call, whole.status, whole.text, whole.error, whole.price, whole.model, utc_now());
    bind_fields<ModelAnswer>(update, whole, kAnswer);
    bind_fields(update, whole.usage).run();
  });
}

std::vector<ModelCallRow> RunStore::finished_calls(RowId run) const {
  return database_.read(
      [&] { return read_calls(database_, "run_id = ? AND status <> 'pending' ORDER BY id", run); });
}

std::vector<ModelCallRow> RunStore::pending_calls(RowId run) const {
  return database_.read(
      [&] { return read_calls(database_, "run_id = ? AND status = 'pending' ORDER BY id", run); });
}

std::optional<ModelCallRow> RunStore::find_reply(RowId call) const {
  return database_.read([&]() -> std::optional<ModelCallRow> {
    Query own(database_, "SELECT request_digest, run_id FROM model_calls WHERE id = ?");
    if (!own.bind(call).next() || own.text("request_digest").empty()) {
      return std::nullopt;
    }
    const std::string digest = own.text("request_digest");
    const RowId run = own.integer("run_id");
    Query earlier(database_, "SELECT count(*) AS number FROM model_calls WHERE request_digest = ? "
                             "AND request_digest <> '' AND run_id = ? AND id < ?");
    earlier.bind(digest, run, call).next();
    // Ordered by arrival: a late reply must not change which replies were already given out.
    std::vector<ModelCallRow> found =
        read_calls(database_,
                   "request_digest = ? AND request_digest <> '' AND run_id <> ? AND status = 'ok' "
                   "AND served_from IS NULL ORDER BY finished_at, id LIMIT 1 OFFSET ?",
                   digest, run, earlier.integer("number"));
    return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
  });
}

RunCosts RunStore::run_costs(RowId run) const {
  return database_.read([&] {
    Query query(database_, "SELECT " + columns<RunCosts>() + " FROM run_overview WHERE run_id = ?");
    return query.bind(run).next() ? row_of<RunCosts>(query) : RunCosts();
  });
}

} // namespace winnow::store
