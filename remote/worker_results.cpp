// What a RemoteWorker does with the results of its devices.
#include "base/error.h"
#include "remote/remote_worker.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

/// As a run on one machine: the evaluator has already repeated what failed.
constexpr int kFaultsInARow = 3;

/// Why the machine could not judge; empty: it could.
std::string fault_of(const evaluators::EvaluationResult& result) {
  if (!result.fault.empty()) {
    return result.fault;
  }
  const tasks::Evaluation& first = result.evaluations.front();
  return first.verdict == tasks::Verdict::Infrastructure ? first.detail : std::string();
}

} // namespace

void RemoteWorker::take(evaluators::EvaluationResult result) {
  const std::string job = result.id;
  std::string fault = fault_of(result);
  if (!fault.empty()) {
    send({job, std::move(fault)});
  } else {
    send({job, {}, std::move(result)});
  }
}

void RemoteWorker::send(Outgoing outgoing) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(outgoing.job); found != held_.end()) {
      found->second.is_done = outgoing.fault.empty();
    }
    outgoing_.push_back(std::move(outgoing));
  }
  changed_.notify_all();
}

void RemoteWorker::send_results(const std::stop_token& stop) {
  for (;;) {
    Outgoing next;
    Held held;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !outgoing_.empty(); })) {
        return;
      }
      next = std::move(outgoing_.front());
      outgoing_.pop_front();
      const auto found = held_.find(next.job);
      if (found == held_.end()) {
        continue; // another worker has the job now
      }
      held = found->second;
    }
    if (next.evaluation) {
      next.evaluation->id = held.request_id;
      next.result = encode(*next.evaluation);
    }
    deliver(next, held, stop);
    forget(held);
  }
}

/// The job is done here. If the broker has handed it out to this worker again meanwhile, it has
/// lost the result, and the job begins anew.
void RemoteWorker::forget(const Held& held) {
  std::optional<DeliveredJob> again;
  {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(held.job.address.job);
    if (found != held_.end() && found->second.job.receipt != held.job.receipt) {
      again = found->second.job;
    }
    held_.erase(held.job.address.job);
  }
  changed_.notify_all();
  try {
    if (again) {
      setup_.transport.give_back(*again, std::chrono::milliseconds(0));
    }
  } catch (const Error&) { // then the lease ends
  }
}

void RemoteWorker::deliver(const Outgoing& outgoing, const Held& held,
                           const std::stop_token& stop) {
  std::string fault = outgoing.fault;
  try {
    if (outgoing.result.size() > setup_.transport.max_message_bytes()) {
      fault = fmt::format("a result has {} bytes, but the broker takes messages of at most {}; "
                          "raise max_payload in the broker's configuration",
                          outgoing.result.size(), setup_.transport.max_message_bytes());
    } else if (!outgoing.result.empty()) {
      store_result(outgoing, held, stop);
      return;
    }
    if (held.cancelled) {
      setup_.transport.drop(held.job);
      return;
    }
    const bool is_drained = outgoing.fault == kCancelled && draining_.stop_requested();
    setup_.transport.give_back(held.job,
                               is_drained ? std::chrono::milliseconds(0) : setup_.give_back_delay);
    if (is_drained) {
      return;
    }
  } catch (const Error& error) { // the lease ends, and another worker gets the job
    setup_.say(with_remedy(error));
    return;
  }
  setup_.say("a job goes back: " + fault);
  bool keeps_failing = false;
  {
    const std::lock_guard lock(mutex_);
    last_fault_ = fault;
    const bool is_of_machine = outgoing.result.empty();
    keeps_failing = is_of_machine && ++faults_in_a_row_ >= kFaultsInARow;
  }
  if (keeps_failing) {
    fail("this machine keeps failing: " + fault);
  }
}

/// First the result, then the end of the job: a worker that dies between them loses nothing. Tries
/// for as long as a job may take.
void RemoteWorker::store_result(const Outgoing& outgoing, const Held& held,
                                const std::stop_token& stop) {
  const auto until = Clock::now() + setup_.hard_limit;
  for (;;) {
    try {
      setup_.transport.publish_result(
          held.job.address, held.job.address.job + "." + held.publication, outgoing.result);
      break;
    } catch (const BrokerUnavailable&) {
      if (Clock::now() > until || wait(kRetryAfter, stop)) {
        throw;
      }
    }
  }
  {
    const std::lock_guard lock(mutex_);
    faults_in_a_row_ = 0;
    ++finished_;
  }
  setup_.transport.finish(held.job);
}

} // namespace winnow::remote
