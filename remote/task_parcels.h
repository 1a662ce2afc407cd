#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "remote/job_message.h"
#include "remote/job_transport.h"
#include "tasks/task/task.h"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace winnow::remote {

/// Makes jobs of requests, and sees that the broker has the tasks that the jobs name. For one
/// thread.
class TaskParcels {
public:
  /// The job for any worker: the task is without its held-out shapes, and the broker keeps it.
  /// Throws Error, BrokerUnavailable, BrokerRefused.
  Job for_any_worker(const evaluators::EvaluationRequest& request, CoordinatorTransport& transport);
  /// The broker may have lost its tasks.
  void forget_kept() { kept_.clear(); }

private:
  /// By the digest of the whole task.
  std::map<std::string, std::shared_ptr<const tasks::Task>> visible_;
  std::set<std::string> kept_; ///< digests of the tasks that the broker has
};

/// The task as workers see it that may not know the held-out shapes: its promotion shapes stand in
/// their place, because a task needs shapes of each set. The digest is that of the changed files.
/// Throws Error if the text of task.toml hides where its held-out shapes are.
tasks::Task without_held_out(const tasks::Task& task);

} // namespace winnow::remote
