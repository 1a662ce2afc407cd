#include "remote/task_parcels.h"

#include "remote/visible_task.h"

namespace winnow::remote {

Job TaskParcels::for_any_worker(const evaluators::EvaluationRequest& request,
                                CoordinatorTransport& transport) {
  std::shared_ptr<const tasks::Task>& visible = visible_[request.task->digest];
  if (!visible) {
    visible = std::make_shared<const tasks::Task>(without_held_out(*request.task));
  }
  evaluators::EvaluationRequest visible_request = request;
  visible_request.task.reset();
  if (kept_.insert(visible->digest).second) {
    try {
      transport.put_task(visible->digest, evaluators::encode(*visible));
    } catch (const Error&) {
      kept_.erase(visible->digest);
      throw;
    }
  }
  Job job;
  job.task = visible->digest;
  job.request = encode(visible_request);
  return job;
}

} // namespace winnow::remote
