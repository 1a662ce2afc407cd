#include "harness/suite/suite_scores.h"

#include "base/text.h"
#include "harness/report/timed_shapes.h"
#include "harness/run/session.h"
#include "search/policy.h"
#include "store/suite_calls.h"
#include "tasks/catalogue.h"
#include "tasks/result/speedup.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using store::SuiteCall;
using tasks::SuiteTask;

constexpr double kThresholds[] = {0, 0.5, 0.8, 1, 1.5, 2};
constexpr const char* kAllFolders = "all";

/// A problem in a run.
struct Problem {
  const SuiteTask* task = nullptr;
  std::vector<const SuiteCall*> calls; ///< in the order in which they were made
};

bool is_correct(const SuiteCall* reply) {
  return reply != nullptr && reply->verdict == tasks::Verdict::Correct;
}

bool is_compiled(const SuiteCall* reply) {
  return reply != nullptr && reply->stage > tasks::Stage::Compile;
}

/// nullptr: the problem has no reply.
const SuiteCall* first_reply(const Problem& problem) {
  const auto found = std::find_if(problem.calls.begin(), problem.calls.end(),
                                  [](const SuiteCall* call) { return call->is_answered; });
  return found == problem.calls.end() ? nullptr : *found;
}

const SuiteCall* best_reply(const Problem& problem) {
  const auto merit = [](const SuiteCall* call) {
    return std::tuple(is_correct(call), is_correct(call) ? call->speedup : 0.0, is_compiled(call),
                      call->is_answered);
  };
  const auto found =
      std::max_element(problem.calls.begin(), problem.calls.end(),
                       [&](const SuiteCall* a, const SuiteCall* b) { return merit(a) < merit(b); });
  return found == problem.calls.end() || !(*found)->is_answered ? nullptr : *found;
}

std::int64_t correct_replies(const Problem& problem) {
  return std::count_if(problem.calls.begin(), problem.calls.end(), is_correct);
}

std::int64_t calls_made(const Problem& problem) {
  return std::count_if(problem.calls.begin(), problem.calls.end(),
                       [](const SuiteCall* call) { return call->is_made; });
}

json share(std::int64_t part, std::int64_t all) {
  return all == 0 ? json(nullptr) : json(static_cast<double>(part) / static_cast<double>(all));
}

/// fast_p of KernelBench: the share of all problems whose kernel is correct and more than p times
/// as fast.
json fast_json(const std::vector<double>& speedups, std::int64_t problems) {
  json list = json::array();
  for (const double p : kThresholds) {
    const auto faster = std::count_if(speedups.begin(), speedups.end(),
                                      [p](double speedup) { return speedup > p; });
    list.push_back({{"p", p}, {"problems", faster}, {"share", share(faster, problems)}});
  }
  return list;
}

/// The mean of the speedups, with the interval that their times have.
void put_mean(json& score, const std::vector<const SuiteCall*>& timed) {
  std::vector<tasks::Speedup> speedups;
  speedups.reserve(timed.size());
  for (const SuiteCall* call : timed) {
    speedups.push_back({call->speedup, call->speedup_bounds});
  }
  const tasks::Speedup mean = tasks::mean_speedup(speedups);
  put_measured(score, "speedup", "", mean.value, mean.bounds);
}

using Pick = std::function<const SuiteCall*(const Problem&)>;

/// Against another yardstick than the speedup's; null: no reply has a time of it.
json versus_json(const std::vector<const SuiteCall*>& timed, std::int64_t problems,
                 double SuiteCall::*versus) {
  std::vector<double> speedups;
  for (const SuiteCall* call : timed) {
    if (call->*versus > 0) {
      speedups.push_back(call->*versus);
    }
  }
  if (speedups.empty()) {
    return nullptr;
  }
  return {{"timed", speedups.size()},
          {"speedup", tasks::geometric_mean(speedups)},
          {"fast", fast_json(speedups, problems)}};
}

/// The scores of one reply for each problem.
json score_json(const std::vector<Problem>& problems, const std::string& replies, const Pick& pick,
                bool without_flagged) {
  std::int64_t all = 0, answered = 0, compiled = 0, correct = 0;
  std::vector<const SuiteCall*> timed;
  std::vector<double> speedups;
  for (const Problem& problem : problems) {
    if (without_flagged && problem.task->is_flagged()) {
      continue;
    }
    const SuiteCall* reply = pick(problem);
    ++all;
    answered += reply != nullptr ? 1 : 0;
    compiled += is_compiled(reply) ? 1 : 0;
    correct += is_correct(reply) ? 1 : 0;
    if (is_correct(reply) && reply->speedup > 0) {
      timed.push_back(reply);
      speedups.push_back(reply->speedup);
    }
  }
  json score{{"replies", replies},
             {"without_flagged", without_flagged},
             {"problems", all},
             {"answered", answered},
             {"compiled", compiled},
             {"compiled_share", share(compiled, all)},
             {"correct", correct},
             {"correct_share", share(correct, all)},
             {"timed", timed.size()},
             {"fast", fast_json(speedups, all)},
             {"versus_torch_compile", versus_json(timed, all, &SuiteCall::speedup_versus_compiled)},
             {"versus_best", versus_json(timed, all, &SuiteCall::speedup_versus_best)}};
  put_mean(score, timed);
  return score;
}

bool is_independent(const SuiteRun& run) {
  return run.states_independence || has_independent_replies(run.strategy);
}

json pass_json(const std::vector<Problem>& problems, const SuiteRun& run, bool without_flagged) {
  json list = json::array();
  if (!is_independent(run)) {
    return list;
  }
  std::set<std::int64_t> sizes{run.calls_per_problem};
  for (std::int64_t k = 1; k < run.calls_per_problem; k *= 2) {
    sizes.insert(k);
  }
  for (const std::int64_t k : sizes) {
    double sum = 0;
    std::int64_t count = 0;
    for (const Problem& problem : problems) {
      if (!without_flagged || !problem.task->is_flagged()) {
        sum += pass_at(k, run.calls_per_problem, correct_replies(problem));
        ++count;
      }
    }
    list.push_back(
        {{"without_flagged", without_flagged},
         {"k", k},
         {"share", count == 0 ? json(nullptr) : json(sum / static_cast<double>(count))}});
  }
  return list;
}

void put_costs(json& document, const std::vector<Problem>& problems, const SuiteRun& run) {
  std::int64_t calls = 0, prompt = 0, completion = 0, uncounted = 0, unpriced = 0, unjudged = 0;
  std::int64_t estimated_tokens = 0;
  double dollars = 0, estimated_dollars = 0, device_seconds = 0;
  for (const Problem& problem : problems) {
    const tasks::Task& task = problem.task->task;
    const auto judged = run.device_seconds.find({task.name, task.digest});
    device_seconds += judged == run.device_seconds.end() ? 0 : judged->second;
    calls += calls_made(problem);
    for (const SuiteCall* call : problem.calls) {
      prompt += call->prompt_tokens;
      completion += call->completion_tokens;
      uncounted += call->tokens_unknown ? 1 : 0;
      unpriced += call->price_unknown ? 1 : 0;
      dollars += call->dollars.value_or(0);
      estimated_tokens += call->unconfirmed_tokens;
      estimated_dollars += call->unconfirmed_dollars;
      unjudged += call->is_answered && call->verdict == tasks::Verdict::NotJudged ? 1 : 0;
    }
  }
  const bool has_tokens = prompt > 0 || uncounted == 0;
  document.update({{"calls", calls},
                   {"not_judged", unjudged},
                   {"prompt_tokens", has_tokens ? json(prompt) : json(nullptr)},
                   {"completion_tokens", has_tokens ? json(completion) : json(nullptr)},
                   {"dollars", calls > 0 && unpriced == calls ? json(nullptr) : json(dollars)},
                   {"calls_without_price", unpriced},
                   {"estimated_tokens", estimated_tokens},
                   {"estimated_dollars", estimated_dollars},
                   {"device_seconds", device_seconds}});
}

json folder_json(const std::string& folder, const std::vector<Problem>& problems,
                 const SuiteRun& run) {
  const auto count = [&](bool (SuiteTask::*is)() const) {
    return std::count_if(problems.begin(), problems.end(),
                         [&](const Problem& one) { return (one.task->*is)(); });
  };
  const auto flagged = count(&SuiteTask::is_flagged);
  json document{{"folder", folder},        {"problems", problems.size()},
                {"flagged", flagged},      {"scaled", count(&SuiteTask::is_scaled)},
                {"scores", json::array()}, {"pass", json::array()}};
  put_costs(document, problems, run);
  for (const bool without_flagged : {false, true}) {
    if (!without_flagged || flagged > 0) {
      document["scores"].push_back(score_json(problems, "first", first_reply, without_flagged));
      document["scores"].push_back(score_json(problems, "best", best_reply, without_flagged));
      for (json& pass : pass_json(problems, run, without_flagged)) {
        document["pass"].push_back(std::move(pass));
      }
    }
  }
  return document;
}

json reply_json(const SuiteCall* reply) {
  if (reply == nullptr) {
    return nullptr;
  }
  const auto or_null = [](double value) { return value > 0 ? json(value) : json(nullptr); };
  return {{"candidate_id", reply->candidate},
          {"model", reply->model},
          {"verdict", to_string(reply->verdict)},
          {"speedup", or_null(reply->speedup)},
          {"speedup_low", or_null(reply->speedup_bounds.low)},
          {"speedup_high", or_null(reply->speedup_bounds.high)},
          {"speedup_versus_torch_compile", or_null(reply->speedup_versus_compiled)},
          {"speedup_versus_best", or_null(reply->speedup_versus_best)},
          {"best_alternative", reply->best_alternative}};
}

json proficiency_json(const Problem& problem, const SuiteRun& run) {
  std::vector<ModelSuggestion> suggestions;
  for (const SuiteCall* call : problem.calls) {
    if (call->is_answered) {
      suggestions.push_back({call->candidate != 0 && call->verdict != tasks::Verdict::BadReply,
                             is_correct(call), call->digest});
    }
  }
  const auto level = is_independent(run) ? proficiency(suggestions) : std::nullopt;
  return level ? json(*level) : json(nullptr);
}

/// What the speedups of the problem's kernels are against, on the device that judged them.
std::string_view versus_of(const Problem& problem) {
  const auto judged = std::find_if(problem.calls.begin(), problem.calls.end(),
                                   [](const SuiteCall* call) { return !call->device.empty(); });
  return tasks::speedup_versus(problem.task->task,
                               judged == problem.calls.end() ? "" : (*judged)->device);
}

json problem_json(const Problem& problem, const SuiteRun& run) {
  return {{"folder", problem.task->folder},
          {"task", problem.task->task.name},
          {"task_digest", problem.task->task.digest},
          {"flags", problem.task->task.source.flags},
          {"is_flagged", problem.task->is_flagged()},
          {"speedup_versus", versus_of(problem)},
          {"calls", calls_made(problem)},
          {"correct", correct_replies(problem)},
          {"proficiency", proficiency_json(problem, run)},
          {"first", reply_json(first_reply(problem))},
          {"best", reply_json(best_reply(problem))}};
}

std::vector<Problem> problems_of(const std::vector<SuiteTask>& tasks, const SuiteRun& run) {
  std::map<std::pair<std::string, std::string>, std::vector<const SuiteCall*>> calls;
  for (const SuiteCall& call : run.calls) {
    calls[{call.task, call.task_digest}].push_back(&call);
  }
  std::vector<Problem> problems;
  problems.reserve(tasks.size());
  for (const SuiteTask& task : tasks) {
    problems.push_back({&task, calls[{task.task.name, task.task.digest}]});
  }
  return problems;
}

json run_json(const std::vector<SuiteTask>& tasks, const SuiteRun& run) {
  const std::vector<Problem> problems = problems_of(tasks, run);
  std::set<std::string> models, devices;
  std::map<std::string, std::vector<Problem>> folders;
  json document{{"run_id", run.id},
                {"run", run.name},
                {"status", run.status},
                {"strategy", run.strategy},
                {"distinction", run.distinction},
                {"calls_per_problem", run.calls_per_problem},
                {"is_independent", is_independent(run)},
                {"has_given_seed", run.has_given_seed},
                {"folders", json::array()},
                {"problems", json::array()}};
  for (const Problem& problem : problems) {
    folders[problem.task->folder].push_back(problem);
    document["problems"].push_back(problem_json(problem, run));
    for (const SuiteCall* call : problem.calls) {
      models.insert(call->model);
      devices.insert(call->device_name);
    }
  }
  devices.erase("");
  document["models"] = models;
  document["device_names"] = devices;
  for (const auto& [folder, part] : folders) {
    document["folders"].push_back(folder_json(folder, part, run));
  }
  if (folders.size() > 1) {
    document["folders"].push_back(folder_json(kAllFolders, problems, run));
  }
  return document;
}

} // namespace

bool has_independent_replies(std::string_view strategy) {
  const std::vector<search::Preset>& all = search::presets();
  return std::any_of(all.begin(), all.end(), [&](const search::Preset& own) {
    const auto* lineages = std::get_if<search::LineagePolicy>(&own.policy.population);
    return own.name == strategy && lineages != nullptr && lineages->for_each_call;
  });
}

double pass_at(std::int64_t k, std::int64_t replies, std::int64_t correct) {
  double none = 1; // of the k replies is correct
  for (std::int64_t i = 0; i < k; ++i) {
    none *= std::max(0.0,
                     static_cast<double>(replies - correct - i) / static_cast<double>(replies - i));
  }
  return 1 - none;
}

namespace {

/// The models that wrote kernels of the run.
std::string models_of_calls(const SuiteRun& run) {
  std::set<std::string> models;
  for (const SuiteCall& call : run.calls) {
    models.insert(call.model);
  }
  return join({models.begin(), models.end()}, ", ");
}

std::int64_t most_calls(const SuiteRun& run) {
  std::map<std::pair<std::string, std::string>, std::int64_t> calls;
  std::int64_t most = 1;
  for (const SuiteCall& call : run.calls) {
    most = std::max(most, ++calls[{call.task, call.task_digest}]);
  }
  return most;
}

void put_config(const json& config, SuiteRun& run) {
  const json& own = config.at("run");
  run.strategy = own.value("strategy", "");
  run.calls_per_problem = own.value("proposals", most_calls(run));
  run.states_independence = own.value("independent", false);
  run.is_search = is_of_search(config);
  run.has_given_seed = !config.at("evaluation").value("seed", json()).is_null();
}

void put_distinctions(const std::vector<ComparedRun>& compared, std::vector<SuiteRun>& runs) {
  const std::vector<std::string> texts = distinctions(compared);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].distinction = texts[i];
  }
}

} // namespace

std::vector<SuiteRun> suite_runs(const store::RunStore& store, const std::vector<SuiteTask>& tasks,
                                 const std::vector<std::string>& names) {
  std::set<std::pair<std::string, std::string>> known;
  for (const SuiteTask& one : tasks) {
    known.emplace(one.task.name, one.task.digest);
  }
  std::vector<SuiteRun> runs;
  std::vector<ComparedRun> compared;
  for (const store::RunRow& row : store.runs()) {
    if (!names.empty() && std::find(names.begin(), names.end(), row.name) == names.end()) {
      continue;
    }
    SuiteRun run{row.id, row.name, row.status, "", 1, false, store::suite_calls(store, row.id)};
    run.device_seconds = store::device_seconds_of_tasks(store, row.id);
    if (std::none_of(run.calls.begin(), run.calls.end(), [&](const SuiteCall& call) {
          return known.contains({call.task, call.task_digest});
        })) {
      continue;
    }
    const json config = json::parse(row.config);
    put_config(config, run);
    compared.push_back(
        {run.name, models_of_calls(run) + ", " + run.strategy, run_settings(config)});
    runs.push_back(std::move(run));
  }
  put_distinctions(compared, runs);
  return runs;
}

json suite_json(const std::string& suite, const std::vector<SuiteTask>& tasks,
                const std::vector<SuiteRun>& runs) {
  json document{
      {"schema", "winnow.suite"}, {"version", 1}, {"suite", suite}, {"runs", json::array()}};
  std::set<std::string> versus;
  for (const SuiteRun& run : runs) {
    for (const json& problem : document["runs"].emplace_back(run_json(tasks, run))["problems"]) {
      versus.insert(problem.at("speedup_versus").get<std::string>());
    }
  }
  document["speedup_versus"] = versus;
  document["comparison"] = comparison_json(document);
  return document;
}

json stored_suite_json(const store::RunStore& store, const std::string& suite,
                       const std::string& run) {
  const auto tasks = tasks::load_suite(tasks::find_catalogue(), suite);
  std::vector<std::string> names;
  if (!run.empty()) {
    names.push_back(only_run(store, run));
  }
  return suite_json(suite, tasks, suite_runs(store, tasks, names));
}

} // namespace winnow::harness
