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

/// Times the leaders of boards against each other and their baselines, judges them on held-out
/// shapes, and stores what it finds: the boards' order from then on. The rounds of all tasks are
/// interleaved, so that a task's rounds are further apart. A sitting is stored when it is
/// complete, or not at all.
class FinalSitting {
public:
  FinalSitting(store::RunStore& store, std::shared_ptr<evaluators::DeviceHost> host,
               const evaluators::DeviceReport& device, evaluators::EvaluationOptions options);

  /// Of each task, the first `top` of the board over all runs and of the board of `run`, where
  /// there is one, and their equals. `say` gets a line for who loses its place, and for a task that
  /// could not be judged.
  void sit(const std::vector<tasks::Task>& tasks, std::int64_t top, std::optional<store::RowId> run,
           const std::function<void(const std::string&)>& say);
  /// From any thread: sit() returns soon and stores nothing more.
  void cancel();
  bool any_fallen() const { return any_fallen_; } ///< somebody has lost its place
  bool any_failed() const { return any_failed_; } ///< a task has no sitting through the machine

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
  std::mutex mutex_; ///< guards boards_' sittings against cancel()
  std::vector<Board> boards_;
  bool cancelled_ = false;
  bool any_fallen_ = false;
  bool any_failed_ = false;
};

} // namespace winnow::harness
