#include "harness/run/session.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/shell_word.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/shared_evaluations.h"
#include "harness/config/model_arms.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/judging_devices.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/role_report.h"
#include "harness/report/terminal.h"
#include "harness/run/endpoints.h"
#include "harness/run/final_sitting.h"
#include "harness/run/prompts/seed_kernel.h"
#include "harness/run/run_loop.h"
#include "harness/run/run_report.h"
#include "harness/run/sessions/run_judge.h"
#include "harness/run/torch_tasks.h"
#include "remote/broker_config.h"
#include "store/advice.h"
#include "tasks/catalogue.h"
#include "tasks/proof.h"
#include "tasks/task_word.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <typeinfo>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using store::RunStore;

std::vector<tasks::Task> load_tasks(const std::vector<std::string>& names,
                                    const std::string& store) {
  std::vector<std::string> wanted = names;
  if (names == std::vector<std::string>{"all"}) {
    wanted.clear();
    for (const tasks::CatalogueEntry& entry : tasks::list_tasks(tasks::find_catalogue())) {
      wanted.push_back(entry.name);
    }
  }
  std::vector<tasks::Task> loaded;
  for (const std::string& name : wanted) {
    tasks::Task task = named_task(name, store);
    const bool twice = std::any_of(loaded.begin(), loaded.end(), [&](const tasks::Task& other) {
      return other.name == task.name;
    });
    if (twice) {
      throw UsageError("run.tasks names '" + task.name + "' twice", "remove one of the two names");
    }
    loaded.push_back(std::move(task));
  }
  return loaded;
}

/// By which a resumed run finds the task again: its name, or its folder outside of the catalogue.
std::string lasting_name(const tasks::Task& task) {
  const std::filesystem::path own = tasks::own_folder(task);
  return own.empty() ? task.name : own.string();
}

/// Leaves a role out that has nothing to show for any of the tasks. Otherwise calls with and
/// without the role would be compared although their prompts do not differ. `why`: for the user.
void leave_out_idle_role(RunConfig& config, const std::vector<tasks::Task>& tasks,
                         const std::string& role, const char* why,
                         const std::function<bool(const tasks::Task&)>& has_something) {
  std::vector<std::string> roles = roles_of(config);
  const auto idle = std::find(roles.begin(), roles.end(), role);
  if (idle == roles.end() || std::any_of(tasks.begin(), tasks.end(), has_something)) {
    return;
  }
  roles.erase(idle);
  config.roles = roles;
  std::cerr << why << ": the role '" << role << "' is left out\n";
}

void leave_out_idle_roles(RunConfig& config, const RunStore& store,
                          const std::vector<tasks::Task>& tasks, const std::string& device_name) {
  leave_out_idle_role(config, tasks, "memory",
                      "the store has no lessons of other tasks on this device",
                      [&](const tasks::Task& task) {
                        constexpr store::RowId kNoRun = 0;
                        return !store::lessons(store, kNoRun, task.name, device_name,
                                               evaluators::kEvaluatorVersion, 1)
                                    .empty();
                      });
  leave_out_idle_role(
      config, tasks, "exemplar", "no task has another task with a baseline.cu in its category",
      [](const tasks::Task& task) { return tasks::exemplar_for(task, "").has_value(); });
}

std::string free_name(const RunStore& store, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; store.find_run(name); ++number) {
    name = wanted + "-" + std::to_string(number);
  }
  return name;
}

// Of the jobs at a broker: a resumed run finds the jobs again that it has published.
constexpr const char* kSessionSecret = "session_secret";

/// Makes the names of the seed kernels lasting. Returns the names by which the user gave them, by
/// digest: boards show them. Throws UsageError before the run begins.
nlohmann::json take_seeds(RunConfig& config, const RunStore& store, const tasks::Task& task) {
  nlohmann::json names = nlohmann::json::object();
  for (std::string& seed : config.seed_kernels) { // load_config() has seen that there is one task
    seed = lasting_seed(seed, store, task.name);
    names[sha256_hex(checked_seed_text(seed, store, task))] = seed_name(seed);
  }
  return names;
}

nlohmann::json stored_config(const RunConfig& config, const std::vector<tasks::Task>& tasks,
                             const evaluators::DeviceReport& device,
                             const std::string& session_secret, const nlohmann::json& seeds) {
  nlohmann::json stored = config_to_json(config);
  for (const tasks::Task& task : tasks) {
    stored["resolved"]["tasks"][task.name] = task.digest;
  }
  stored["resolved"]["device_name"] = device.name;
  stored["resolved"]["seeds"] = seeds;
  stored["resolved"]["prompts"] = agents::own_templates(config.prompts);
  stored["resolved"][kSessionSecret] = session_secret;
  return sealed_config(std::move(stored));
}

/// Throws UsageError if a task has changed since the run began.
void check_same_tasks(const nlohmann::json& stored, const std::vector<tasks::Task>& tasks) {
  const nlohmann::json digests =
      stored.value("resolved", nlohmann::json::object()).value("tasks", nlohmann::json::object());
  for (const tasks::Task& task : tasks) {
    if (digests.value(task.name, "") != task.digest) {
      throw UsageError("task '" + task.name + "' has changed since the run began (" +
                           task.folder.string() + ")",
                       "restore the files of the task to go on, or start a new run");
    }
  }
}

/// Keeps those tasks of a user's own configuration that the run began with. Throws UsageError if
/// one of the run's is not among them.
void keep_tasks_of_run(const nlohmann::json& stored, std::vector<tasks::Task>& tasks) {
  const nlohmann::json digests =
      stored.value("resolved", nlohmann::json::object()).value("tasks", nlohmann::json::object());
  std::erase_if(tasks, [&](const tasks::Task& task) { return !digests.contains(task.name); });
  for (const auto& [name, digest] : digests.items()) {
    if (std::none_of(tasks.begin(), tasks.end(),
                     [&, &wanted = name](const auto& task) { return task.name == wanted; })) {
      throw UsageError("the config has no task '" + visible(name) + "', which the run needs",
                       "name its folder in run.tasks of the config");
    }
  }
}

/// Throws UsageError if a version of Winnow without search logs began the run and did not finish
/// it.
void check_has_log(RunStore& store, const store::RunRow& run,
                   const std::vector<tasks::Task>& tasks) {
  if (run.status == "finished") {
    return;
  }
  const bool has_log = std::any_of(tasks.begin(), tasks.end(), [&](const tasks::Task& task) {
    return !store.search_log(run.id, store.add_task(task)).empty();
  });
  if (!has_log && !store.candidates(run.id).empty()) {
    throw UsageError(
        "an earlier version of Winnow began run '" + run.name + "' and wrote no search log",
        "start a new run in this store; the results of the old run stay on the boards");
  }
}

void check_resumable_overrides(const std::vector<ConfigOverride>& overrides) {
  for (const ConfigOverride& item : overrides) {
    if (!may_change_on_resume(item.key)) {
      throw UsageError(item.key + " cannot change when a run is resumed",
                       "only limits.*, endpoint.*, broker.*, run.parallel and "
                       "evaluation.require_isolation can change; start a new run instead");
    }
  }
}

/// A store, the run that this process has locked, and the objects that drive the run.
struct RunSession {
  RunConfig config;
  std::vector<tasks::Task> tasks;
  std::unique_ptr<evaluators::DevicePool> devices;
  RunStore& store;
  store::RunRow run;
  std::vector<RunModel> models;
  bool by_files = false; ///< the endpoint only collects requests for a file
  RunJudge& judge;       ///< of the sessions of agents
  /// Tasks that the run cannot have here, and why; empty: it has all.
  std::string left_out = {};
  RunReport report = run_leaderboard;
  std::chrono::milliseconds elapsed_before = harness::elapsed_before(store.events(run.id));
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  /// The time of the run over all its sessions.
  std::chrono::milliseconds elapsed() const {
    return elapsed_before + std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::steady_clock::now() - begun);
  }
  /// Keeps an event with this time.
  void keep(std::string_view kind, nlohmann::json detail) const {
    detail[kElapsedSeconds] = seconds(elapsed());
    store.add_event(run.id, kind, detail);
  }
};

/// The endpoints of a run's models: `instead` if given, otherwise the configured ones. Create them
/// before devices are opened: that removes keys from the environment, and no other thread may read
/// the environment at that time. Throws UsageError for a model that cannot be asked, or whose
/// unknown price a limit needs.
class Endpoints {
public:
  /// `judge`: of the sessions of agents; must outlive this.
  Endpoints(const RunConfig& config, agents::ModelEndpoint* instead, RunJudge& judge)
      : setup_{&judge, config.store + ".sessions"} {
    for (const ModelArm& model : models_of(config)) {
      agents::ModelEndpoint& endpoint = instead != nullptr ? *instead : configured(model);
      const std::optional<agents::Price> price = run_price(model.endpoint);
      check_dollar_limit(config.limits, model.endpoint, price, in_words(model));
      models_.push_back({model.name, model.endpoint, endpoint, price});
      models_.back().config.max_output_tokens = output_limit(config.limits, model.endpoint, price);
    }
  }
  const std::vector<RunModel>& models() const { return models_; }

private:
  agents::ModelEndpoint& configured(const ModelArm& model) {
    try {
      return *configured_.emplace_back(make_run_endpoint(model.endpoint, setup_));
    } catch (const UsageError& error) {
      throw UsageError(error.what() + in_words(model), error.remedy());
    }
  }

  agents::EndpointSetup setup_;
  std::vector<std::unique_ptr<agents::ModelEndpoint>> configured_;
  std::vector<RunModel> models_;
};

RunOutcome drive(RunSession& session, evaluators::EvaluationsFactory evaluations,
                 Interrupt& interrupt, Progress& progress) {
  const agents::PromptTemplates templates(session.config.prompts);
  Journal journal(session.store, session.run.id);
  const evaluators::DeviceReport& device = session.devices->first();
  RunLoop loop({.config = session.config,
                .tasks = session.tasks,
                .facts = device.facts,
                .device_kind = device.kind,
                .device_name = device.name,
                .devices = static_cast<int>(session.devices->size()),
                .journal = journal,
                .models = session.models,
                .prompts = [&](const auto& context) { return templates.proposal(context); },
                .evaluations = std::move(evaluations),
                .progress = progress,
                .is_finished = session.run.status == "finished",
                .elapsed_before = session.elapsed_before});
  const OnInterrupt stop(interrupt, [&] { loop.interrupt(); });
  return loop.run();
}

/// Ends the judge before its evaluations go.
struct EndOfJudge {
  RunJudge& judge;
  ~EndOfJudge() { judge.end(); }
};

bool asks_agents(const RunSession& session) {
  return std::any_of(session.models.begin(), session.models.end(),
                     [](const RunModel& model) { return model.config.kind == "agent"; });
}

/// Where sessions of agents are judged, beside the search.
RunJudge::Setup judge_setup(const RunSession& session, evaluators::EvaluationsFactory evaluations) {
  RunJudge::Setup setup;
  setup.store = session.config.store;
  setup.run = session.run.name;
  for (const tasks::Task& task : session.tasks) {
    setup.tasks.push_back(std::make_shared<const tasks::Task>(task));
  }
  setup.evaluations = std::move(evaluations);
  setup.device = session.devices->first();
  setup.devices = session.devices->size();
  setup.protocol = session.config.evaluation;
  setup.environment = environment_of(*session.devices);
  setup.light = light_on(*session.devices, session.config.evaluation.cache, session.config.broker);
  return setup;
}

RunOutcome drive(RunSession& session, Interrupt& interrupt, Progress& progress) {
  std::optional<evaluators::SharedEvaluations> shared;
  evaluators::EvaluationsFactory evaluations = session.devices->factory();
  if (asks_agents(session)) {
    shared.emplace(evaluations);
    evaluations = shared->door();
    session.judge.begin(judge_setup(session, shared->door()));
  }
  const EndOfJudge end{session.judge};
  return drive(session, std::move(evaluations), interrupt, progress);
}

/// Holds a final for the tasks of the run. `is_new`: this session has changed the run, so that an
/// earlier final does not count. Returns whether there was something to do.
bool hold_final(RunSession& session, bool is_new, Interrupt& interrupt, Progress& progress) {
  const std::vector<store::StoredSitting> held = session.store.sittings();
  std::vector<tasks::Task> tasks;
  std::copy_if(session.tasks.begin(), session.tasks.end(), std::back_inserter(tasks),
               [&](const tasks::Task& task) {
                 return is_new || std::none_of(held.begin(), held.end(), [&](const auto& sitting) {
                          return sitting.run == session.run.id && sitting.task == task.name;
                        });
               });
  if (tasks.empty() || session.config.evaluation.seed || session.config.finalists == 0) {
    return false;
  }
  progress.event("the final: the leaders of each task take turns", Progress::Weight::Important);
  const auto evaluations = session.devices->evaluations([](const auto& /*result*/) {});
  FinalSitting final(session.store, *evaluations, session.devices->first(),
                     session.config.evaluation);
  const OnInterrupt stop(interrupt, [&] { final.cancel(); });
  final.sit(
      tasks, session.config.finalists, session.run.id,
      [&](const std::string& line) { progress.event(line, Progress::Weight::Important); },
      progress);
  session.keep("final", {{"tasks", tasks.size()}});
  return true;
}

/// The ceilings that the run's workers measured or found, for the store's readers.
void keep_ceilings(const RunSession& session) {
  if (!session.config.broker.url.empty()) {
    return; // the workers have them
  }
  const profiling::CeilingsOwner owner = evaluators::ceilings_owner(session.devices->first());
  const std::filesystem::path& folder = session.config.evaluation.cache;
  const auto loaded = profiling::load_ceilings(
      (folder.empty() ? cache_directory() : folder) / profiling::ceilings_file_name(owner), owner);
  if (loaded) {
    session.store.add_ceilings(
        {owner.device, owner.uuid, owner.driver, nlohmann::json(*loaded).dump(), loaded->date});
  }
}

ExitCode drive_and_report(RunSession& session, Interrupt& interrupt) {
  Progress progress(std::cerr, stderr_is_terminal(), terminal_columns());
  progress.event("run '" + session.run.name + "' on " + session.devices->names() + " (" +
                     session.devices->first().name + "), store " + session.config.store,
                 Progress::Weight::Important);
  if (session.config.evaluation.seed) {
    progress.event("evaluation.seed is set: boards rank no kernel of this run",
                   Progress::Weight::Important);
  }
  if (!session.left_out.empty()) {
    progress.event(session.left_out, Progress::Weight::Important);
  }
  RunOutcome outcome = drive(session, interrupt, progress);
  if (outcome.end == RunOutcome::End::Finished && !interrupt.interrupted() &&
      hold_final(session, !outcome.was_finished, interrupt, progress)) {
    outcome.elapsed = session.elapsed();
    outcome.was_finished = false;
  }
  keep_ceilings(session);
  progress.finish();
  std::cout << session.report(session.store, session.run.name) << std::flush;
  if (outcome.end == RunOutcome::End::Finished && interrupt.interrupted()) {
    std::cerr << "interrupted before the end of the final; to hold the final: winnow resume "
              << shell_word(session.run.name) << " --store " << shell_word(session.config.store)
              << "\n";
    return ExitCode::Interrupted;
  }
  std::cerr << earnings_table(outcome, session.config);
  std::cerr << roles_text(roles_json(session.store, session.run));
  std::cerr << run_summary(outcome, session.config, session.run.name,
                           session.by_files ? "winnow batch export -o REQUESTS --run"
                                            : "winnow resume");
  if (!session.left_out.empty()) {
    std::cerr << "incomplete: " << session.left_out << '\n';
  }
  const ExitCode code = exit_code(outcome.end);
  return code == ExitCode::Done && !session.left_out.empty() ? ExitCode::Failure : code;
}

/// What a run that died leaves for those who look at the store. Says nothing if the store is what
/// failed.
void keep_end(RunSession& session, const std::string& reason) {
  try {
    session.keep("died", {{"reason", reason}});
    session.store.set_run_status(session.run.id, "failed");
  } catch (const std::exception&) { // the first error says what is wrong
  }
}

/// Drives the run. One that dies has an end in the store; if it dies before its first kernel, a
/// mistake in its configuration or in a file that it names is the cause.
ExitCode drive_to_an_end(RunSession& session, Interrupt& interrupt) {
  std::cerr << tasks::unproven_warning(session.tasks, session.devices->first().kind);
  const bool is_new = session.store.candidates(session.run.id).empty();
  try {
    return drive_and_report(session, interrupt);
  } catch (const Error& error) {
    keep_end(session, error.what());
    const bool has_own_code = typeid(error) != typeid(Error); // of exit_codes.h
    if (is_new && !has_own_code && session.store.candidates(session.run.id).empty()) {
      throw UsageError(error.what(), error.remedy());
    }
    std::cerr << "to go on when the cause is mended: winnow resume " << shell_word(session.run.name)
              << " --store " << shell_word(session.config.store) << '\n';
    throw;
  } catch (const std::exception& error) {
    keep_end(session, error.what());
    throw;
  }
}

} // namespace

store::RunRow locked_run(RunStore& store, const std::string& name) {
  store::RunRow run = named_run(store, name);
  if (!store.lock_run(run.id)) {
    throw Error("another process is working on run '" + run.name + "'",
                "wait for that process to end, or stop the process with Ctrl-C");
  }
  return run;
}

namespace {

/// At a broker the pool's workers have the isolation.
void check_isolation_here(const RunConfig& config) {
  if (config.broker.url.empty()) {
    check_isolation(config.evaluation);
  }
}

nlohmann::json resolved_of(const store::RunRow& run) {
  return nlohmann::json::parse(run.config).value("resolved", nlohmann::json::object());
}

std::string session_secret_of(const store::RunRow& run) {
  return resolved_of(run).value(kSessionSecret, "");
}

/// A finished run asks nothing any more.
void check_same_prompts(const store::RunRow& run, const RunConfig& config) {
  if (run.status != "finished" && !has_same_prompts(nlohmann::json::parse(run.config), config)) {
    throw UsageError("the prompt templates in '" + visible(config.prompts) +
                         "' have changed since run '" + run.name + "' began",
                     "restore the templates to go on, or start a new run");
  }
}

/// Throws UsageError if a broker's pool has other devices than the run began with.
void check_same_device(const RunConfig& config, const store::RunRow& run,
                       const evaluators::DeviceReport& device) {
  const std::string before = resolved_of(run).value("device_name", device.name);
  if (!config.broker.url.empty() && before != device.name) {
    throw UsageError("run '" + run.name + "' began on " + before + ", but the pool '" +
                         config.broker.pool + "' judges on " + device.name,
                     "name a --pool of the same devices, or start a new run");
  }
}

} // namespace

ExitCode start_run(RunConfig config, bool name_is_given, agents::ModelEndpoint* instead,
                   RunReport report) {
  Interrupt interrupt; // before any other thread starts
  std::vector<tasks::Task> tasks = load_tasks(config.tasks, config.store);
  check_isolation_here(config);
  RunJudge judge;
  const Endpoints endpoints(config, instead, judge);
  const std::string secret = remote::random_secret();
  auto devices =
      open_devices(config.evaluation, config.evaluation.run_timeout, config.broker, secret);
  const std::string left_out = leave_out_torch_tasks(tasks, [&] { devices->start_torch(); });
  const evaluators::DeviceReport device = devices->first();
  config.evaluation.device = devices->names();
  config.tasks.clear();
  for (const tasks::Task& task : tasks) {
    config.tasks.push_back(lasting_name(task));
  }
  RunStore store(config.store, RunStore::Mode::ReadWrite);
  if (!name_is_given) {
    config.name = free_name(store, config.name);
  }
  leave_out_idle_roles(config, store, tasks, device.name);
  const nlohmann::json seeds = take_seeds(config, store, tasks.front());
  store.create_run(config.name, stored_config(config, tasks, device, secret, seeds),
                   environment_of(*devices));
  RunSession session{config,
                     std::move(tasks),
                     std::move(devices),
                     store,
                     locked_run(store, config.name),
                     endpoints.models(),
                     instead != nullptr,
                     judge,
                     left_out,
                     std::move(report)};
  return drive_to_an_end(session, interrupt);
}

nlohmann::json config_of_person() {
  return {{"kind", "person"}};
}

bool is_of_person(const nlohmann::json& run_config) {
  return run_config == config_of_person();
}

nlohmann::json config_of_server() {
  return {{"kind", "server"}};
}

bool is_of_search(const nlohmann::json& run_config) {
  return !run_config.contains("kind"); // of a person, a server, or a loop that asks a server
}

bool has_same_prompts(const nlohmann::json& stored, const RunConfig& config) {
  const auto resolved = stored.value("resolved", nlohmann::json::object());
  return !resolved.contains("prompts") ||
         resolved["prompts"] == nlohmann::json(agents::own_templates(config.prompts));
}

RunConfig resumed_config(const store::RunRow& run, const std::filesystem::path& store,
                         const std::vector<ConfigOverride>& overrides, const StoreTrust& trust) {
  check_resumable_overrides(overrides);
  const auto stored = nlohmann::json::parse(run.config);
  if (!is_of_search(stored)) {
    const std::string whose = is_of_person(stored)           ? "a person"
                              : stored == config_of_server() ? "trainers"
                                                             : "a loop of its own";
    throw UsageError("run '" + run.name + "' keeps the kernels of " + whose + ", and has no search",
                     "name a run that `winnow run` began");
  }
  RunConfig config = config_from_json(stored);
  if (trust.own) {
    std::cerr << take_values_of(*trust.own, config);
  } else if (!trust.is_given && !is_own_config(stored, store)) {
    refuse_reaching_values(config, overrides, run.name, store);
  }
  apply_overrides(config, overrides);
  return config;
}

ExitCode resume_run(const std::string& store_path, const std::string& name,
                    const std::vector<ConfigOverride>& overrides, const StoreTrust& trust,
                    agents::ModelEndpoint* instead, RunReport report) {
  Interrupt interrupt; // before any other thread starts
  RunStore store(require_store(store_path), RunStore::Mode::ReadWrite);
  RunConfig config = resumed_config(named_run(store, name), store_path, overrides, trust);
  const store::RunRow run = locked_run(store, name); // of a store that may be used
  config.store = store_path;
  std::vector<tasks::Task> tasks = load_tasks(config.tasks, config.store);
  if (trust.own) {
    keep_tasks_of_run(nlohmann::json::parse(run.config), tasks);
  }
  check_same_tasks(nlohmann::json::parse(run.config), tasks);
  check_same_prompts(run, config);
  check_has_log(store, run, tasks);
  check_isolation_here(config);
  RunJudge judge;
  const Endpoints endpoints(config, instead, judge);
  auto devices = open_devices(config.evaluation, config.evaluation.run_timeout, config.broker,
                              session_secret_of(run));
  check_same_device(config, run, devices->first());
  if (std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return !!task.torch; })) {
    devices->start_torch();
  }
  RunSession session{config, std::move(tasks),   std::move(devices), store,
                     run,    endpoints.models(), instead != nullptr, judge,
                     {},     std::move(report)};
  return drive_to_an_end(session, interrupt);
}

} // namespace winnow::harness
