#include "harness/serve/loop_runs.h"

#include "base/error.h"
#include "base/text.h"
#include "harness/serve/judge_service.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {

using nlohmann::json;

namespace {

constexpr std::int64_t kMostRunsOfOwner = 1000;

/// Without tokens everybody sees all runs, so a name needs no owner.
std::string stored_name(const Client& client, const std::string& name) {
  return client.owner == kLocalOwner && client.reads_all ? name : client.owner + "/" + name;
}

json config_of(const RunDeclaration& run, const std::string& name, const json& tasks,
               const JudgeServiceSetup& setup) {
  json config{{"kind", "external"},
              {"run", {{"name", name}, {"strategy", run.strategy}, {"tasks", run.tasks}}},
              {"endpoint", {{"model", run.model}}},
              {"evaluation", {{"device", setup.device_kind}, {"seed", nullptr}}},
              {"resolved", {{"device_name", setup.device_name}, {"tasks", tasks}}}};
  if (setup.protocol.seed) {
    config["evaluation"]["seed"] = *setup.protocol.seed;
  } else if (setup.seed_from_batch) {
    config["evaluation"]["seed"] = "of each request";
  }
  if (run.samples > 0) {
    config["run"]["proposals"] = run.samples;
    config["run"]["independent"] = true;
  }
  return config;
}

json or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

json task_json(const std::string& name, const std::vector<store::DeclaredTask>& known) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.task == name; });
  const store::DeclaredTask task = found == known.end() ? store::DeclaredTask{name} : *found;
  json document{{"task", name},
                {"calls", task.calls},
                {"not_judged", task.unjudged},
                {"correct", task.correct},
                {"best", nullptr}};
  if (task.best != 0) {
    document["best"] = {{"candidate", fmt::format("@{}", task.best)},
                        {"call", whole_number<std::int64_t>(task.call_key).value_or(0)},
                        {"speedup", task.speedup > 0 ? json(task.speedup) : json()}};
  }
  return document;
}

bool is_over(const store::DeclaredRun& run) {
  return run.row.status != "running";
}

} // namespace

LoopRuns::LoopRuns(const JudgeServiceSetup& setup) : setup_(setup), runs_(setup.store, setup.run) {}

json LoopRuns::declare(const Client& client, const RunDeclaration& run,
                       const std::function<void(std::uint64_t)>& take_room) {
  json tasks = json::object();
  for (const std::string& name : run.tasks) {
    const auto task = setup_.find_task(name);
    tasks[task->name] = task->digest;
  }
  const std::string name = stored_name(client, run.name);
  const json config = config_of(run, name, tasks, setup_);
  if (const auto known = runs_.find(client.owner, run.name)) {
    if (json::parse(known->row.config) != config) {
      throw UsageError("you have declared another run '" + run.name + "'",
                       "choose another name, or declare it as it was");
    }
    return document(*known);
  }
  if (runs_.count(client.owner) >= kMostRunsOfOwner) {
    throw UsageError(fmt::format("your token has declared {} runs already", kMostRunsOfOwner),
                     "ask who runs the server for a new --store");
  }
  take_room(store::kBytesOfDeclared + config.dump().size());
  runs_.add({0, client.owner, run.name}, name, config);
  return document(runs_.find(client.owner, run.name).value());
}

json LoopRuns::document(const store::DeclaredRun& run) const {
  const json config = json::parse(run.row.config);
  const store::RunCosts costs = setup_.store.run_costs(run.run_id);
  const std::vector<store::DeclaredTask> known = runs_.tasks(run.run_id);
  json tasks = json::array();
  for (const json& task : config.at("run").at("tasks")) {
    tasks.push_back(task_json(task.get<std::string>(), known));
  }
  return {{"run", run.name},
          {"stored_as", run.row.name},
          {"status", run.row.status},
          {"started_at", run.row.started_at},
          {"finished_at", or_null(run.row.finished_at)},
          {"calls", costs.calls},
          {"next_call", runs_.next_call(run.run_id)},
          {"tasks", std::move(tasks)},
          {"stated",
           {{"strategy", config.at("run").at("strategy")},
            {"model", config.at("endpoint").at("model")},
            {"tokens", {{"input", costs.prompt_tokens}, {"output", costs.completion_tokens}}},
            {"dollars", costs.dollars ? json(*costs.dollars) : json()},
            {"calls_without_dollars", costs.calls_without_price}}}};
}

std::optional<json> LoopRuns::show(const Client& client, const std::string& name) const {
  auto run = runs_.find(client.owner, name);
  if (!run) {
    run = runs_.find_stored(name);
  }
  return run && (client.reads_all || run->owner == client.owner) ? std::optional(document(*run))
                                                                 : std::nullopt;
}

std::optional<json> LoopRuns::end(const Client& client, const std::string& name) {
  const auto run = runs_.find(client.owner, name);
  if (!run) {
    return std::nullopt;
  }
  if (!is_over(*run)) {
    setup_.store.set_run_status(run->run_id, "finished");
  }
  return show(client, name);
}

/// Throws UsageError for a parent that the owner does not have.
std::vector<store::RowId> LoopRuns::parents_of(const StatedReply& stated, store::RowId run) const {
  std::vector<store::RowId> parents;
  const std::string& task = stated.task.name;
  for (const std::string& name : stated.call.parents) {
    const bool is_call = whole_number<std::int64_t>(name) && name.size() < kDigitsOfJob;
    const auto found = is_call ? runs_.of_call(run, task, name)
                       : name.starts_with('@')
                           ? runs_.of_number(whole_number<store::RowId>(name.substr(1)).value_or(0),
                                             task, stated.sees)
                           : runs_.of_job(run, task, name, stated.sees);
    if (!found) {
      throw UsageError(fmt::format("call {} of the run '{}': you have no kernel of {} by the name "
                                   "'{}'",
                                   stated.call.call, stated.call.run, task, name),
                       "send a parent before what builds on it, or leave it out of parents");
    }
    if (std::find(parents.begin(), parents.end(), *found) == parents.end()) {
      parents.push_back(*found);
    }
  }
  return parents;
}

LoopRuns::Known& LoopRuns::known_run(const StatedReply& stated, KnownRuns& known) const {
  const std::string& name = stated.call.run;
  if (const auto found = known.find(name); found != known.end()) {
    return found->second;
  }
  const auto run = runs_.find(stated.owner, name);
  if (!run) {
    throw UsageError("you have declared no run '" + name + "'", "declare it: POST /v1/runs");
  }
  return known[name] = {*run, json::parse(run->row.config), {}};
}

void LoopRuns::check(const StatedReply& stated, Known& known) const {
  const auto& [run, config, calls] = known;
  const std::string& task = stated.task.name;
  const std::string what = "the run '" + run.name + "'";
  if (is_over(run)) {
    throw UsageError(what + " has ended", "declare a run of another name");
  }
  if (!config.at("resolved").at("tasks").contains(task)) {
    throw UsageError(what + " has no task " + task, "declare a run with all of its tasks");
  }
  if (!config.at("run").contains("independent")) {
    return;
  }
  if (!stated.call.parents.empty()) {
    throw UsageError(what + " has independent samples, so a call has no parents",
                     "leave parents out, or declare a run without samples");
  }
  const auto samples = config.at("run").at("proposals").get<std::int64_t>();
  const auto [count, is_new] = known.calls.try_emplace(task);
  if (is_new) {
    count->second = runs_.calls_of_task(run.run_id, task);
  }
  if (count->second++ >= samples) {
    throw UsageError(fmt::format("{} has its {} samples of {} already", what, samples, task),
                     "declare a run with more samples");
  }
}

store::RowId LoopRuns::add(const StatedReply& stated, store::RowId task, KnownRuns& known) {
  Known& of_run = known_run(stated, known);
  const store::RowId run = of_run.run.run_id;
  store::DeclaredReply reply{run, task, std::to_string(stated.call.call)};
  reply.kernel = stated.kernel;
  if (const auto stored = runs_.find_reply(reply)) {
    return *stored;
  }
  check(stated, of_run);
  reply.model = of_run.config.at("endpoint").at("model").get<std::string>();
  reply.reply = stated.reply;
  reply.usage = stated.call.usage;
  reply.dollars = stated.call.dollars;
  reply.parents = parents_of(stated, run);
  return runs_.add_reply(reply);
}

} // namespace winnow::harness
