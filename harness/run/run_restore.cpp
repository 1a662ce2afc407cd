#include "harness/report/counted.h"
#include "harness/run/run_loop.h"

#include <fmt/format.h>

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
  tell_restored();
}

void RunLoop::tell_restored() {
  std::int64_t judged = 0;
  std::int64_t correct = 0;
  for (const auto& [key, candidate] : known_) {
    if (!candidate.row.call_key.empty() && candidate.best) {
      ++judged;
      correct += candidate.best->verdict == tasks::Verdict::Correct ? 1 : 0;
    }
  }
  if (!recorded_.empty()) {
    setup_.progress.event(
        fmt::format("the store has {} to this run, {} of them judged, {} correct",
                    counted(static_cast<std::int64_t>(recorded_.size()), "reply", "replies"),
                    judged, correct),
        Progress::Weight::Important);
  }
}

const store::CandidateState* RunLoop::known_candidate(const TaskState& state,
                                                      const std::string& call_key) const {
  const auto it = known_.find({state.task->name, call_key});
  return it == known_.end() ? nullptr : &it->second;
}

} // namespace winnow::harness
