#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/evaluation/evaluations.h"
#include "harness/run/state/progress.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace winnow::harness {

/// Times the leading kernels of boards against each other and against their baselines, and judges
/// them on held-out shapes. The stored result decides the order of the boards from then on. A
/// sitting is stored completely or not at all.
class FinalSitting {
public:
  FinalSitting(store::RunStore& store, evaluators::Evaluations& evaluations,
               const evaluators::DeviceReport& device, evaluators::Protocol protocol);

  /// The finalists of a task are the first `top` kernels of the board over all runs, the first
  /// `top` of the board of `run` (if given), and the kernels that tie with them. `say` gets a line
  /// for each kernel that loses its place and for each task that could not be judged. `progress`
  /// shows how far the final is.
  void sit(const std::vector<tasks::Task>& tasks, std::int64_t top, std::optional<store::RowId> run,
           const std::function<void(const std::string&)>& say, Progress& progress);
  /// Any thread may call this. sit() then returns soon and stores nothing more.
  void cancel() { stop_.request_stop(); }
  bool any_fallen() const { return any_fallen_; } ///< a kernel has lost its place
  /// a task has no result because the machine failed
  bool any_failed() const { return any_failed_; }

private:
  using Finalists = std::vector<store::LeaderboardRow>;

  evaluators::SittingRequest::Board board_of(const tasks::Task& task, const Finalists& finalists);
  void keep(const tasks::Task& task, const Finalists& finalists, const tasks::SittingResult& result,
            std::optional<store::RowId> run, const std::function<void(const std::string&)>& say);

  store::RunStore& store_;
  evaluators::Evaluations& evaluations_;
  const evaluators::DeviceReport& device_;
  evaluators::Protocol protocol_;
  std::stop_source stop_;
  bool any_fallen_ = false;
  bool any_failed_ = false;
};

} // namespace winnow::harness
