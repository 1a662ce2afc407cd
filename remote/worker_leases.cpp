// The thread of RemoteWorker that keeps in touch with the broker while devices work.
#include "base/error.h"
#include "remote/remote_worker.h"

#include <vector>

namespace winnow::remote {
namespace {

constexpr std::chrono::milliseconds kKeeperTick{200};
constexpr std::chrono::milliseconds kAskRulesAgain{30'000};

} // namespace

void RemoteWorker::keep_leases(const std::stop_token& stop) {
  auto extended = Clock::now();
  auto asked = Clock::now();
  auto beat = Clock::time_point();
  do {
    try {
      take_cancellations();
      if (setup_.transport.is_asked() || Clock::now() - beat > setup_.heartbeat_every) {
        beat = Clock::now();
        send_heartbeat();
      }
      if (Clock::now() - asked > kAskRulesAgain) {
        asked = Clock::now();
        check_rules_again();
      }
      if (Clock::now() - extended > setup_.extend_every) {
        extended = Clock::now();
        extend_leases();
      }
    } catch (const Error&) { // the main loop tells the user when it lasts
    }
  } while (!wait(kKeeperTick, stop));
}

/// A coordinator may have raised what the pool demands.
void RemoteWorker::check_rules_again() {
  const std::optional<std::string> rules = setup_.transport.pool_rules();
  try {
    if (rules && !rules->empty()) {
      check_rules(decode_pool_rules(*rules));
    }
  } catch (const Error& error) {
    fail(with_remedy(error));
  }
}

void RemoteWorker::extend_leases() {
  std::vector<DeliveredJob> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, held] : held_) {
      if (Clock::now() - held.step < setup_.hard_limit) {
        jobs.push_back(held.job);
      }
    }
  }
  for (const DeliveredJob& job : jobs) {
    setup_.transport.extend(job);
  }
}

void RemoteWorker::take_cancellations() {
  for (const Cancellation& one : setup_.transport.cancelled()) {
    std::vector<std::string> jobs;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [id, held] : held_) {
        if (held.job.address.session == one.session && (one.job.empty() || one.job == id)) {
          held.cancelled = true;
          held.stop.request_stop();
          jobs.push_back(id);
        }
      }
    }
    for (const std::string& job : jobs) {
      evaluations_->cancel(job);
    }
  }
}

void RemoteWorker::send_heartbeat() {
  Heartbeat beat = setup_.self;
  {
    const std::lock_guard lock(mutex_);
    beat.last_fault = last_fault_;
    for (const auto& [job, held] : held_) {
      beat.held.push_back({job, held.made, held.all});
    }
  }
  setup_.transport.heartbeat(encode(beat));
}

} // namespace winnow::remote
