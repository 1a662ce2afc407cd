#include "harness/run/final_sitting.h"

#include "base/error.h"
#include "tasks/plan/kernel_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {

using Say = std::function<void(const std::string&)>;

FinalSitting::FinalSitting(store::RunStore& store, std::shared_ptr<evaluators::DeviceHost> host,
                           const evaluators::DeviceReport& device,
                           evaluators::EvaluationOptions options)
    : store_(store), host_(std::move(host)), device_(device), options_(std::move(options)) {
  options_.seed.reset(); // a sitting with repeated inputs would not be trustworthy
}

void FinalSitting::sit(const std::vector<tasks::Task>& tasks, std::int64_t top,
                       std::optional<store::RowId> run, const Say& say) {
  for (const tasks::Task& task : tasks) {
    open(task, top, run);
  }
  for (Board& board : boards_) {
    attempt(board, &evaluators::Sitting::admit, say);
  }
  for (int round = 0; round < evaluators::kSittingRounds; ++round) {
    for (Board& board : boards_) {
      attempt(board, &evaluators::Sitting::round, say);
    }
  }
  for (const Board& board : boards_) {
    keep(board, run, say);
  }
  const std::lock_guard lock(mutex_);
  boards_.clear();
}

void FinalSitting::open(const tasks::Task& task, std::int64_t top,
                        std::optional<store::RowId> run) {
  Board board{&task, store_.finalists(task, device_.name, evaluators::kEvaluatorVersion, top, run),
              nullptr};
  std::vector<evaluators::Finalist> kernels;
  for (const store::LeaderboardRow& row : board.finalists) {
    tasks::KernelFileResult parsed = tasks::parse_kernel_file(
        store_.candidate(row.candidate).text, fmt::format("candidate-{}.cu", row.candidate));
    if (parsed.kernel_file) { // kernels on a board were parsed successfully before
      kernels.push_back({std::move(*parsed.kernel_file),
                         nlohmann::json::parse(row.parameters).get<tasks::ParameterChoice>(),
                         row.kernel});
    }
  }
  if (!kernels.empty()) {
    board.sitting =
        std::make_unique<evaluators::Sitting>(task, host_, options_, std::move(kernels));
    const std::lock_guard lock(mutex_);
    boards_.push_back(std::move(board));
  }
}

void FinalSitting::attempt(Board& board, void (evaluators::Sitting::*step)(), const Say& say) {
  {
    const std::lock_guard lock(mutex_);
    if (!board.sitting || cancelled_) {
      return;
    }
  }
  try {
    ((*board.sitting).*step)();
  } catch (const Error& error) {
    say(fmt::format("{}: no final: {}", board.task->name, error.what()));
    any_failed_ = true;
    const std::lock_guard lock(mutex_);
    board.sitting.reset();
  }
}

void FinalSitting::keep(const Board& board, std::optional<store::RowId> run, const Say& say) {
  {
    const std::lock_guard lock(mutex_);
    if (!board.sitting || cancelled_) {
      return;
    }
  }
  const store::RowId task = store_.add_task(*board.task);
  const tasks::SittingResult result = board.sitting->result(
      store_.baseline_spread(task, device_.name, evaluators::kEvaluatorVersion));
  // If all finalists belong to one run, the sitting orders that run's board too.
  const bool of_one = std::all_of(
      board.finalists.begin(), board.finalists.end(),
      [&](const store::LeaderboardRow& row) { return row.run == board.finalists.front().run; });
  store_.add_sitting(run || !of_one ? run : board.finalists.front().run, task, result);
  for (const tasks::SittingRow& row : result.rows) {
    const auto finalist =
        std::find_if(board.finalists.begin(), board.finalists.end(),
                     [&](const store::LeaderboardRow& one) { return one.kernel == row.kernel; });
    if (row.rank == 0) {
      any_fallen_ = true;
      say(fmt::format("{}: candidate {} has lost its place in the final: {}: {}", board.task->name,
                      finalist->candidate, to_string(row.verdict), row.detail));
    }
  }
}

void FinalSitting::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (const Board& board : boards_) {
    if (board.sitting) {
      board.sitting->cancel();
    }
  }
}

} // namespace winnow::harness
