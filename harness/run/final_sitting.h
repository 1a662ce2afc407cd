#pragma once

#include "evaluators/evaluation/sitting.h"
#include "store/run_store.h"
#include "tasks/task.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// Times the leading kernels of boards against each other and against their baselines, and judges
/// them on held-out shapes. The stored result decides the order of the boards from then on. The
/// rounds of all tasks are interleaved, so that the rounds of one task are further apart in time. A
/// sitting is stored completely or not at all. It uses the device itself, while no evaluation runs:
/// it is no EvaluationRequest, because its rounds mix tasks and kernels.
class FinalSitting {
public:
  FinalSitting(store::RunStore& store, std::shared_ptr<evaluators::DeviceHost> host,
               const evaluators::DeviceReport& device, evaluators::EvaluationOptions options);

  /// The finalists of a task are the first `top` kernels of the board over all runs, the first
  /// `top` of the board of `run` (if given), and the kernels that tie with them. `say` gets a line
  /// for each kernel that loses its place and for each task that could not be judged.
  void sit(const std::vector<tasks::Task>& tasks, std::int64_t top, std::optional<store::RowId> run,
           const std::function<void(const std::string&)>& say);
  /// Any thread may call this. sit() then returns soon and stores nothing more.
  void cancel();
  bool any_fallen() const { return any_fallen_; } ///< a kernel has lost its place
  /// a task has no result because the machine failed
  bool any_failed() const { return any_failed_; }

private:
  struct Board {
    const tasks::Task* task = nullptr;
    std::vector<store::LeaderboardRow> finalists;
    std::unique_ptr<evaluators::Sitting> sitting;
  };

  void open(const tasks::Task& task, std::int64_t top, std::optional<store::RowId> run);
  void attempt(Board& board, void (evaluators::Sitting::*step)(),
               const std::function<void(const std::string&)>& say);
  void keep(const Board& board, std::optional<store::RowId> run,
            const std::function<void(const std::string&)>& say);

  store::RunStore& store_;
  std::shared_ptr<evaluators::DeviceHost> host_;
  const evaluators::DeviceReport& device_;
  evaluators::EvaluationOptions options_;
  std::mutex mutex_; ///< guards cancelled_ and the sittings of boards_ against cancel()
  std::vector<Board> boards_;
  bool cancelled_ = false;
  bool any_fallen_ = false;
  bool any_failed_ = false;
};

} // namespace winnow::harness
