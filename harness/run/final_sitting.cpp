#include "harness/run/final_sitting.h"

#include "evaluators/evaluation/blank_evaluation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {

using Say = std::function<void(const std::string&)>;

FinalSitting::FinalSitting(store::RunStore& store, evaluators::Evaluations& evaluations,
                           const evaluators::DeviceReport& device, evaluators::Protocol protocol)
    : store_(store), evaluations_(evaluations), device_(device), protocol_(protocol) {
  protocol_.seed.reset(); // a sitting with repeated inputs would not be trustworthy
}

void FinalSitting::sit(const std::vector<tasks::Task>& tasks, std::int64_t top,
                       std::optional<store::RowId> run, const Say& say, Progress& progress) {
  evaluators::SittingRequest request{"final", {}, protocol_};
  std::vector<Finalists> finalists;
  for (const tasks::Task& task : tasks) {
    Finalists rows = store_.finalists(task, device_.name, evaluators::kEvaluatorVersion, top, run);
    if (!rows.empty()) {
      request.boards.push_back(board_of(task, rows));
      finalists.push_back(std::move(rows));
    }
  }
  const evaluators::SittingAnswer answer =
      evaluations_.hold(request, stop_.get_token(), [&progress](int made, int all) {
        progress.status(fmt::format("the final: {} of {} turns", made, all));
      });
  progress.finish();
  for (std::size_t i = 0; i < finalists.size() && !stop_.stop_requested(); ++i) {
    const tasks::Task& task = *request.boards[i].task;
    if (const auto& result = answer.boards.at(i).result) {
      keep(task, finalists[i], *result, run, say);
    } else {
      any_failed_ = true;
      say(fmt::format("{}: no final: {}", task.name, answer.boards[i].fault));
    }
  }
}

evaluators::SittingRequest::Board FinalSitting::board_of(const tasks::Task& task,
                                                         const Finalists& finalists) {
  evaluators::SittingRequest::Board board;
  board.task = std::make_shared<const tasks::Task>(task);
  board.baseline_spread =
      store_.baseline_spread(store_.add_task(task), device_.name, evaluators::kEvaluatorVersion);
  for (const store::LeaderboardRow& row : finalists) {
    board.finalists.push_back(
        {store_.candidate(row.candidate_id).text, fmt::format("candidate-{}.cu", row.candidate_id),
         nlohmann::json::parse(row.parameters).get<tasks::ParameterChoice>(), row.kernel});
  }
  return board;
}

void FinalSitting::keep(const tasks::Task& task, const Finalists& finalists,
                        const tasks::SittingResult& result, std::optional<store::RowId> run,
                        const Say& say) {
  // If all finalists belong to one run, the sitting orders that run's board too.
  const bool of_one =
      std::all_of(finalists.begin(), finalists.end(), [&](const store::LeaderboardRow& row) {
        return row.run_id == finalists.front().run_id;
      });
  store_.add_sitting(run || !of_one ? run : finalists.front().run_id, store_.add_task(task),
                     result);
  for (const tasks::SittingRow& row : result.rows) {
    const auto finalist =
        std::find_if(finalists.begin(), finalists.end(),
                     [&](const store::LeaderboardRow& one) { return one.kernel == row.kernel; });
    if (row.rank == 0 && finalist != finalists.end()) {
      any_fallen_ = true;
      say(fmt::format("{}: candidate {} has lost its place in the final: {}: {}", task.name,
                      finalist->candidate_id, to_string(row.verdict), row.detail));
    }
  }
}

} // namespace winnow::harness
