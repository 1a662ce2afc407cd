#pragma once

#include "evaluators/evaluator.h"
#include "store/run_store.h"
#include "tasks/task.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace winnow::harness {

/// Judges the kernel that leads each task's board of a finished run on the held-out shapes, which
/// nothing has seen before, and stores what it finds. A task that has its result keeps it: a second
/// look would be a choice between the two. Baselines in the lead are left out.
class FinalReport {
public:
  FinalReport(store::RunStore& store, store::RunRow run,
              std::shared_ptr<evaluators::DeviceHost> host, const evaluators::DeviceReport& device,
              evaluators::EvaluationOptions options);

  /// `cancelled` is asked between tasks.
  void judge(const std::vector<tasks::Task>& tasks, const std::function<bool()>& cancelled);
  /// A line for each result, from the store; empty when there is none.
  std::string text() const;

private:
  void judge_leader(const tasks::Task& task, const store::LeaderboardRow& leader);

  store::RunStore& store_;
  store::RunRow run_;
  std::shared_ptr<evaluators::DeviceHost> host_;
  const evaluators::DeviceReport& device_;
  evaluators::EvaluationOptions options_;
};

} // namespace winnow::harness
