#include "harness/final_report.h"

#include "tasks/kernel_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {

FinalReport::FinalReport(store::RunStore& store, store::RunRow run,
                         std::shared_ptr<evaluators::DeviceHost> host,
                         const evaluators::DeviceReport& device,
                         evaluators::EvaluationOptions options)
    : store_(store), run_(std::move(run)), host_(std::move(host)), device_(device),
      options_(std::move(options)) {}

void FinalReport::judge(const std::vector<tasks::Task>& tasks,
                        const std::function<bool()>& cancelled) {
  const std::vector<store::HeldOutResult> known = store_.held_out(run_.id);
  for (const tasks::Task& task : tasks) {
    const bool done =
        std::any_of(known.begin(), known.end(), [&](const store::HeldOutResult& result) {
          return result.task == task.name && result.device_name == device_.name;
        });
    store::LeaderboardQuery query;
    query.task = task.name;
    query.device = device_.kind;
    query.run = run_.name;
    query.top = 1;
    const std::vector<store::LeaderboardRow> leaders = store_.leaderboard(query);
    const auto leader =
        std::find_if(leaders.begin(), leaders.end(), [&](const store::LeaderboardRow& row) {
          return row.rank > 0 && row.origin != "baseline" && row.task_digest == task.digest &&
                 row.device_name == device_.name;
        });
    if (!done && !cancelled() && leader != leaders.end()) {
      judge_leader(task, *leader);
    }
  }
}

void FinalReport::judge_leader(const tasks::Task& task, const store::LeaderboardRow& leader) {
  const std::string text = store_.candidate(leader.candidate).text;
  const tasks::KernelFileResult parsed =
      tasks::parse_kernel_file(text, fmt::format("candidate-{}.cu", leader.candidate));
  if (!parsed.kernel_file) {
    return; // what leads a board has been parsed before
  }
  evaluators::Evaluator evaluator(task, host_, options_);
  const tasks::Evaluation evaluation = evaluator.evaluate_held_out(
      *parsed.kernel_file, nlohmann::json::parse(leader.parameters).get<tasks::ParameterChoice>());
  if (evaluation.verdict == tasks::Verdict::Infrastructure) {
    return; // a resumed run tries again
  }
  store::HeldOutResult result;
  result.device_name = device_.name;
  result.candidate = leader.candidate;
  result.evaluation = leader.evaluation;
  result.verdict = evaluation.verdict;
  result.detail = evaluation.detail;
  result.speedup = evaluation.hidden_speedup;
  result.cases = tasks::evaluation_json(evaluation).at("cases").dump();
  result.evaluator_version = evaluation.evaluator_version;
  store_.add_held_out(run_.id, store_.add_task(task), result);
}

std::string FinalReport::text() const {
  std::string text;
  for (const store::HeldOutResult& result : store_.held_out(run_.id)) {
    text += fmt::format("  {}: candidate {} is {}", result.task, result.candidate,
                        to_string(result.verdict));
    text += result.verdict == tasks::Verdict::Correct
                ? fmt::format(", {:.2f}x the baseline's speed\n", result.speedup)
                : fmt::format(": {}\n", result.detail);
  }
  return text.empty() ? text : "on held-out shapes, judged once:\n" + text;
}

} // namespace winnow::harness
