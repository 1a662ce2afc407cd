// The part of JudgeService that takes answers back: those of workers that are quarantined.
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/serve/judge_service.h"
#include "store/worker_evaluations.h"

#include <exception>

#include <spdlog/spdlog.h>

namespace winnow::harness {

/// The evaluations leave the boards at once. What nobody asks for is not judged again: a trainer
/// that has made a step does not look back.
void JudgeService::quarantine(const std::string& worker) {
  quarantined_.insert(worker);
  std::int64_t answers = 0;
  try {
    setup_.store.transaction([&] { answers = withdraw_evaluations_of(worker); });
  } catch (const std::exception& error) { // the next start withdraws them
    spdlog::error("serve: cannot withdraw the answers of worker '{}': {}", worker, error.what());
    return;
  }
  withdrawn_ += static_cast<std::uint64_t>(answers);
  spdlog::warn("serve: worker '{}' is quarantined: {} answers are withdrawn", worker, answers);
  if (on_withdrawal) {
    on_withdrawal();
  }
}

/// Returns how many answers rested on them.
std::int64_t JudgeService::withdraw_evaluations_of(const std::string& worker) {
  const std::string fact = "the worker '" + worker + "' is quarantined";
  std::int64_t answers = 0;
  for (const store::CountingEvaluation& row : store::withdraw_evaluations(
           setup_.store, setup_.run, worker,
           evaluators::machine_fault(setup_.device_kind, setup_.device_name, fact))) {
    answers += requests_.withdraw(row.candidate, "an earlier answer does not count: " + fact);
  }
  return answers;
}

void JudgeService::ask_again(const std::string& batch) {
  for (const store::JudgeJob& job : requests_.withdrawn_jobs(batch)) {
    if (!waiting_.contains(job.job)) {
      enqueue(job.job, job.candidate, job.owner, job.priority);
    }
  }
  submit_next();
}

/// The worker of an evaluation has been quarantined before the judgement was over.
void JudgeService::begin_again(const std::string& job, Waiting& waiting) {
  waiting.request.clear();
  waiting.family.reset();
  queue_.push(waiting.owner, job, waiting.priority);
}

} // namespace winnow::harness
