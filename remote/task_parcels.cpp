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
  visible_request.task = visible;
  SplitRequest split = split_request(encode(visible_request));
  if (!kept_.contains(split.digest)) {
    transport.put_task(split.digest, split.task);
    kept_.insert(split.digest);
  }
  Job job;
  job.task = std::move(split.digest);
  job.request = std::move(split.request);
  return job;
}

} // namespace winnow::remote
