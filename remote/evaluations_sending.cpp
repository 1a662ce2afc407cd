// The thread of RemoteEvaluations that publishes jobs and looks after them.
#include "base/error.h"
#include "base/random_bits.h"
#include "remote/remote_evaluations.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestWait{1};
constexpr milliseconds kTendEvery{1000};
constexpr milliseconds kComplainAfter{5'000};
constexpr milliseconds kComplainEvery{60'000};
/// A job that is gone without a result that often will not get one.
constexpr int kMostPublications = 10;
/// So many looks, Patience::publish_again apart: a heartbeat may be late.
constexpr int kMostUnclaimed = 2;
constexpr int kMostStalls = 5;

} // namespace

/// How long the sending thread may wait. The caller holds the mutex.
RemoteEvaluations::Clock::duration RemoteEvaluations::until_next_job() const {
  Clock::duration wait = std::min(kTendEvery, setup_.patience.publish_again);
  const auto now = Clock::now();
  for (const auto& [job, pending] : pending_) {
    wait = std::min(wait, pending.publish_at - now);
  }
  return std::max(wait, Clock::duration(kShortestWait));
}

void RemoteEvaluations::send_jobs() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, until_next_job(), [this] {
        return stopping_ || is_rescheduled_ || !arrived_.empty() || !faults_.empty();
      });
      if (stopping_) {
        return;
      }
      is_rescheduled_ = false;
    }
    try {
      take_faults();
      after_reconnection();
      send_due_jobs();
      tend();
      heard_ = setup_.transport.is_connected() ? Clock::now() : heard_;
    } catch (const BrokerRefused& error) {
      complain(with_remedy(error));
      fail_all(with_remedy(error));
      pause(kRetryAfter);
    } catch (const Error& error) {
      complain(with_remedy(error));
      pause(kRetryAfter);
    }
  }
}

/// Results that came early, and all jobs that the broker may lack.
void RemoteEvaluations::send_due_jobs() {
  std::vector<ArrivedResult> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (ArrivedResult& result : arrived) {
    checks_.post(std::move(result));
  }
  for (const std::string& job : due_jobs()) {
    publish(job);
  }
}

/// While results wait at the broker, the coordinator does not know which jobs lack one.
std::vector<std::string> RemoteEvaluations::due_jobs() {
  std::vector<std::string> fresh, again;
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, pending] : pending_) {
      if (pending.publish_at <= now) {
        (pending.is_out ? again : fresh).push_back(job);
      }
    }
  }
  if (again.empty()) {
    return fresh;
  }
  if (setup_.transport.has_results()) {
    const std::lock_guard lock(mutex_);
    for (const std::string& job : again) {
      if (const auto found = pending_.find(job); found != pending_.end()) {
        found->second.publish_at = now + std::min(kTendEvery, setup_.patience.publish_again);
      }
    }
  } else {
    fresh.insert(fresh.end(), again.begin(), again.end());
  }
  return fresh;
}

PoolRules RemoteEvaluations::rules() const {
  PoolRules rules = setup_.session.rules;
  rules.quarantined = quarantine_.workers();
  return rules;
}

Job RemoteEvaluations::message_of(const Pending& pending) {
  Job job;
  if (pending.kind == JobKind::Sitting) {
    job.kind = JobKind::Sitting;
    job.request = pending.sitting_text;
  } else {
    evaluators::EvaluationRequest request = pending.request;
    request.protocol.reuse = false; // a worker lives longer than a run
    if (pending.address.trusted) {
      job.request = encode(request);
    } else {
      job = parcels_.for_any_worker(request, setup_.transport);
    }
  }
  job.publication = fmt::format("{:016x}", random_bits());
  return job;
}

void RemoteEvaluations::publish(const std::string& job) {
  const std::optional<Pending> pending = find(job);
  if (!pending) {
    return;
  }
  std::string body;
  try {
    body = encode(message_of(*pending));
  } catch (const BrokerUnavailable&) {
    throw;
  } catch (const BrokerRefused&) {
    throw;
  } catch (const Error& error) { // of the task
    fail(job, with_remedy(error));
    return;
  }
  if (body.size() > setup_.transport.max_message_bytes()) {
    fail(job, fmt::format("the job has {} bytes, but the broker takes messages of at most {}; "
                          "raise max_payload in the broker's configuration",
                          body.size(), setup_.transport.max_message_bytes()));
    return;
  }
  set_out(job, true); // before: a result that is refused begins anew
  try {
    count_publication(job, hand_over(pending->address, body), pending->is_out);
  } catch (const Error&) {
    set_out(job, false);
    throw;
  }
}

void RemoteEvaluations::set_out(const std::string& job, bool is_out) {
  const std::lock_guard lock(mutex_);
  if (const auto found = pending_.find(job); found != pending_.end()) {
    found->second.is_out = is_out;
    found->second.publish_at =
        is_out ? Clock::now() + setup_.patience.publish_again : Clock::time_point();
  }
}

/// False: the broker has the job already.
bool RemoteEvaluations::hand_over(const JobAddress& address, const std::string& body) {
  if (setup_.transport.publish(address, body)) {
    return true;
  }
  if (setup_.roster.held(address.job)) {
    return false;
  }
  const JobPlace place = setup_.transport.place_of(address);
  const bool is_stalled = stall(address.job, place != JobPlace::Queued);
  if (!is_stalled && place != JobPlace::Stranded) {
    return false;
  }
  setup_.transport.withdraw(address);
  return setup_.transport.publish(address, body) && !is_stalled;
}

/// Whether a worker keeps the job without saying so in its heartbeats. Nobody can tell which one.
bool RemoteEvaluations::stall(const std::string& job, bool is_handed_out) {
  int stalls = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(job);
    if (found == pending_.end()) {
      return false;
    }
    Pending& pending = found->second;
    pending.unclaimed = is_handed_out ? pending.unclaimed + 1 : 0;
    if (pending.unclaimed < kMostUnclaimed) {
      return false;
    }
    pending.unclaimed = 0;
    stalls = ++pending.stalls;
  }
  warn_of_loss("keeps a job without saying so");
  if (stalls >= kMostStalls) {
    fail(job, fmt::format("{} times a worker kept the job and did not say so; the pool has {}",
                          stalls, setup_.roster.names()));
  }
  return true;
}

void RemoteEvaluations::warn_of_loss(const std::string& what) {
  if (Clock::now() - warned_of_loss_ > kComplainEvery) {
    warned_of_loss_ = Clock::now();
    setup_.warn(fmt::format("a worker of the pool '{}' {}: one of {}; the job goes out again",
                            setup_.session.pool, what, setup_.roster.names()));
  }
}

/// `was_out`: the broker had the job, and no result has come.
void RemoteEvaluations::count_publication(const std::string& job, bool is_taken, bool was_out) {
  int publications = 0;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = pending_.find(job); found != pending_.end()) {
      publications = found->second.publications += is_taken ? 1 : 0;
    }
  }
  if (was_out && is_taken) {
    warn_of_loss("has removed a job without a result");
  }
  if (publications > kMostPublications) {
    fail(job, fmt::format("the job was lost {} times: workers or the broker removed the job, and "
                          "no result came; the pool has {}",
                          kMostPublications, setup_.roster.names()));
  }
}

void RemoteEvaluations::after_reconnection() {
  const std::uint64_t now = setup_.transport.reconnections();
  if (now == reconnections_) {
    return;
  }
  setup_.transport.prepare(setup_.session.pool);
  setup_.transport.set_pool_rules(setup_.session.pool, encode(rules()));
  parcels_.forget_kept();
  {
    const std::lock_guard lock(mutex_);
    for (auto& [job, pending] : pending_) {
      pending.publish_at = {};
      pending.publications = 0; // a broker that forgets is no fault of the job
    }
  }
  reconnections_ = now;
  setup_.warn("the broker is there again; jobs that it has lost are published again");
}

/// A worker finishes its job after the result, and may die in between. Then the job must go before
/// its lease ends. Hardly any job is left, so this looks for all at once.
void RemoteEvaluations::withdraw_finished() {
  std::vector<JobAddress> finished;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, address] : finished_) {
      finished.push_back(address);
    }
  }
  setup_.transport.withdraw_all(finished);
  const std::lock_guard lock(mutex_);
  for (const JobAddress& address : finished) {
    finished_.erase(address.job);
  }
}

void RemoteEvaluations::tend() {
  if (Clock::now() - tended_ < kTendEvery) {
    return;
  }
  tended_ = Clock::now();
  setup_.roster.update(setup_.transport);
  withdraw_finished();
  for (const JobAddress& dead : setup_.transport.dead_jobs()) {
    if (!find(dead.job)) { // a request to come may ask for the job again
      setup_.transport.withdraw(dead);
      continue;
    }
    const std::string faults = setup_.roster.faults();
    fail(dead.job, fmt::format("{} workers, one after the other, died with this job or gave the "
                               "job back{}{}",
                               kMostDeliveries, faults.empty() ? "" : ": ", faults));
  }
}

/// The broker is away or refuses. Tells the user now and then, and gives up at last.
void RemoteEvaluations::complain(const std::string& trouble) {
  const auto now = Clock::now();
  if (now - heard_ > kComplainAfter && now - complained_ > kComplainEvery) {
    complained_ = now;
    setup_.warn(trouble + "; Winnow keeps trying");
  }
  if (!setup_.transport.is_connected() && now - heard_ > setup_.patience.broker) {
    fail_all(fmt::format("the broker has not answered for {} s: {}",
                         setup_.patience.broker.count() / 1000, trouble));
  }
}

void RemoteEvaluations::fail_all(const std::string& fault) {
  std::vector<std::string> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, pending] : pending_) {
      jobs.push_back(job);
    }
  }
  for (const std::string& job : jobs) {
    fail(job, fault);
  }
}

} // namespace winnow::remote
