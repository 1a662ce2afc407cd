#include "harness/run_loop.h"

namespace winnow::harness {

void RunLoop::restore() {
  for (const tasks::Task& task : setup_.tasks) {
    TaskState state;
    state.task = &task;
    state.row = setup_.journal.add_task(task);
    tasks_.push_back(std::move(state));
  }
  for (store::ModelCallRow& call : setup_.journal.finished_calls()) {
    budget_.settle(call.key, reply_from_row(call));
    recorded_[call.key] = std::move(call);
  }
  const store::RunCosts costs = setup_.journal.costs();
  budget_.add_unconfirmed(
      {costs.unconfirmed_sendings, costs.unconfirmed_tokens, costs.unconfirmed_dollars});
  for (store::CandidateState& candidate : setup_.journal.candidates()) {
    auto key = std::pair(candidate.row.task, candidate.row.call_key);
    known_.insert_or_assign(std::move(key), std::move(candidate));
  }
}

const store::CandidateState* RunLoop::known_candidate(const TaskState& state,
                                                      const std::string& call_key) const {
  const auto it = known_.find({state.task->name, call_key});
  return it == known_.end() ? nullptr : &it->second;
}

} // namespace winnow::harness
