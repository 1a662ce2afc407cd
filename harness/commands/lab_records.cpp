#include "harness/commands/lab_records.h"

#include "base/error.h"
#include "base/files.h"
#include "harness/config/config.h"
#include "harness/run/state/task_state.h"
#include "store/database.h"
#include "store/run_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using search::Event;

struct LoggedTask {
  store::RowId id = 0;
  std::string name;
};

std::vector<LoggedTask> logged_tasks(const store::RunStore& store, store::RowId run) {
  std::vector<LoggedTask> tasks;
  store.read([&](const store::Database& database) {
    store::Query query(database, "SELECT DISTINCT s.task_id, t.name FROM search_log AS s "
                                 "JOIN tasks AS t ON t.id = s.task_id WHERE s.run_id = ? "
                                 "ORDER BY s.task_id");
    query.bind(run);
    while (query.next()) {
      tasks.push_back({query.integer("task_id"), query.text("name")});
    }
  });
  return tasks;
}

/// The evaluator that judged the kernels may be an earlier one.
int evaluator_version_of(const std::vector<Event>& events, int fallback) {
  for (const Event& event : events) {
    if (const auto* evaluated = std::get_if<search::Evaluated>(&event)) {
      return evaluated->outcome.evaluator_version;
    }
  }
  return fallback;
}

search::Settings recorded_settings(const RunConfig& config, const LoggedTask& logged,
                                   const std::vector<Event>& events) {
  const auto first_kernels = std::count_if(events.begin(), events.end(), [](const Event& event) {
    const auto* added = std::get_if<search::Added>(&event);
    return added != nullptr && added->key.empty();
  });
  tasks::Task task;
  task.name = logged.name;
  const bool has_baseline = first_kernels > static_cast<std::ptrdiff_t>(config.seed_kernels.size());
  task.baseline = has_baseline ? "baseline.cu" : "";
  search::Settings settings = search_settings(config, task);
  settings.roles.clear(); // the replay has no advisers
  settings.evaluator_version = evaluator_version_of(events, settings.evaluator_version);
  return settings;
}

std::vector<lab::ModelCall> calls_of_task(const std::vector<store::ModelCallRow>& calls,
                                          const std::vector<Event>& events) {
  std::map<std::string, std::string> models; // by key
  for (const Event& event : events) {
    const auto* decided = std::get_if<search::Decided>(&event);
    if (const auto* ask = decided ? std::get_if<search::Ask>(&decided->action) : nullptr) {
      models[ask->key] = ask->model;
    }
  }
  std::vector<lab::ModelCall> of_task;
  for (const store::ModelCallRow& call : calls) {
    if (const auto asked = models.find(call.key); asked != models.end()) {
      of_task.push_back({call.key, asked->second.empty() ? call.model : asked->second,
                         call.dollars.value_or(0), call.seconds});
    }
  }
  return of_task;
}

void add_searches(const store::RunStore& store, const store::RunRow& run,
                  std::vector<StoredSearch>& searches) {
  const std::vector<LoggedTask> tasks = logged_tasks(store, run.id);
  if (tasks.empty()) {
    return;
  }
  const RunConfig config = config_from_json(nlohmann::json::parse(run.config));
  const std::vector<store::ModelCallRow> calls = store.finished_calls(run.id);
  for (const LoggedTask& task : tasks) {
    std::vector<Event> events;
    for (const store::SearchLogRow& row : store.search_log(run.id, task.id)) {
      events.push_back(search::event_of({row.kind, row.detail}));
    }
    lab::RecordedSearch search;
    search.name = run.name + "/" + task.name;
    search.policy = search::preset(config.strategy).policy;
    search.settings = recorded_settings(config, task, events);
    search.calls = calls_of_task(calls, events);
    search.events = std::move(events);
    searches.push_back({config.strategy, std::move(search)});
  }
}

} // namespace

std::vector<StoredSearch> stored_searches(const std::filesystem::path& path,
                                          const std::string& run) {
  if (!is_file(path)) {
    throw UsageError(path.string() + ": no such store", "name the SQLite file of a run");
  }
  const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
  store::LeaderboardQuery query;
  query.run = run;
  store.require_known(query);
  std::vector<StoredSearch> searches;
  for (const store::RunRow& row : store.runs()) {
    if (run.empty() || row.name == run) {
      add_searches(store, row, searches);
    }
  }
  if (searches.empty()) {
    throw UsageError(path.string() + ": no run of this store has the log of a search",
                     "name a store of `winnow run`, `winnow bench` or `winnow batch`");
  }
  return searches;
}

} // namespace winnow::harness
