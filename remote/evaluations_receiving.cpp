// The threads of RemoteEvaluations that take results: one fetches them, and the others check them.
#include "base/error.h"
#include "remote/remote_evaluations.h"
#include "remote/result_check.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationResult;
using evaluators::SittingAnswer;

/// So often a quarantined worker may take a job.
constexpr int kMostUselessResults = 8;
/// Results that fail their check.
constexpr int kMostRefusedResults = 3;
/// Results of requests that have not been made (yet). A worker can make up jobs, so their memory is
/// limited. The jobs of results that find no room are judged again.
constexpr std::size_t kMostEarlyResults = 10'000;
constexpr std::size_t kMostEarlyBytes = std::size_t{64} << 20U;
/// Of one worker. No coordinator has more jobs out than that, so the worker floods the broker.
constexpr std::size_t kMostUnaskedResults = 10'000;
constexpr std::size_t kMostUnaskedBytes = std::size_t{1} << 30U;

} // namespace

void RemoteEvaluations::receive() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        return;
      }
    }
    try {
      for (ArrivedResult& result : setup_.transport.results(setup_.patience.results)) {
        checks_.post(std::move(result));
      }
    } catch (const Error&) { // the sending thread tells the user when it lasts
      pause(kRetryAfter);
    }
  }
}

/// The broker sends a result again that it could not acknowledge.
void RemoteEvaluations::check(const ArrivedResult& result) {
  try {
    handle(result);
  } catch (const Error&) { // as above
    pause(kRetryAfter);
  }
}

void RemoteEvaluations::handle(const ArrivedResult& result) {
  const std::optional<Pending> pending = find(result.job);
  if (!pending) {
    take_unasked(result);
    return;
  }
  if (quarantine_.has(result.worker)) {
    pass_on(result);
    return;
  }
  try {
    take(*pending, result);
  } catch (const BrokerUnavailable&) {
    throw;
  } catch (const BrokerRefused&) {
    throw;
  } catch (const Error& error) {
    refuse(result, with_remedy(error));
    return;
  }
  setup_.transport.acknowledge(result);
  const std::lock_guard lock(mutex_);
  finished_.emplace(result.job, pending->address);
}

/// A result of a request that was not made (yet), or of one that has its answer.
void RemoteEvaluations::take_unasked(const ArrivedResult& result) {
  bool is_kept = false, is_flood = false;
  {
    const std::lock_guard lock(mutex_);
    if (!answered_.contains(result.job)) {
      Unasked& of = unasked_[result.worker];
      ++of.results;
      of.bytes += result.body.size();
      is_flood = of.results > kMostUnaskedResults || of.bytes > kMostUnaskedBytes;
      is_kept = !is_flood && keep_early(result, of.bytes);
      of = is_flood ? Unasked{} : of;
    }
  }
  if (is_flood) {
    if (quarantine_.add(result.worker)) {
      announce_quarantine(result.worker, "it floods the broker with results that nobody asked for");
    }
    setup_.transport.drop_results(result.worker);
  } else if (!is_kept) {
    setup_.transport.acknowledge(result);
  }
}

/// Each worker has a quarter of the room at most. mutex_ is held.
bool RemoteEvaluations::keep_early(const ArrivedResult& result, std::size_t bytes_of_worker) {
  if (quarantine_.has(result.worker) || early_.size() >= kMostEarlyResults ||
      bytes_of_worker > kMostEarlyBytes / 4 ||
      early_bytes_ + result.body.size() > kMostEarlyBytes) {
    return false;
  }
  ArrivedResult& kept = early_[result.job];
  early_bytes_ += result.body.size();
  early_bytes_ -= kept.body.size();
  kept = result;
  return true;
}

/// Every result that counts comes through here.
void RemoteEvaluations::take(const Pending& pending, const ArrivedResult& result) {
  const PoolRules& rules = setup_.session.rules;
  if (pending.kind == JobKind::Evaluation) {
    EvaluationResult checked = checked_result(pending.request, rules, {result.worker, result.body});
    if (remove(result.job)) {
      quarantine_.count(result.worker);
      setup_.done(std::move(checked));
    }
    return;
  }
  const std::lock_guard lock(mutex_); // keeps the sitting's request alive
  const auto found = pending_.find(result.job);
  if (found != pending_.end()) {
    SittingAnswer answer =
        checked_answer(*found->second.sitting, rules, {result.worker, result.body});
    found->second.answer->set_value(std::move(answer));
    pending_.erase(found);
  }
}

/// A result that cannot be right does not count: the job is published again.
void RemoteEvaluations::refuse(const ArrivedResult& result, const std::string& why) {
  setup_.warn("a result does not count: " + why);
  if (send_again(result, &Pending::refused_results, {}) >= kMostRefusedResults) {
    fail(result.job, "workers sent results that do not count: " + why);
  }
  if (quarantine_.refuse(result.worker)) {
    announce_quarantine(result.worker, why);
  }
}

/// The job waits longer and longer for another worker.
void RemoteEvaluations::pass_on(const ArrivedResult& result) {
  const std::optional<Pending> now = find(result.job);
  const int earlier = now ? now->useless_results : 0;
  if (send_again(result, &Pending::useless_results, setup_.patience.pass_on * (1 << earlier)) >=
      kMostUselessResults) {
    fail(result.job, "the worker '" + result.worker +
                         "', which is quarantined, takes the job again and again; remove its user "
                         "from the broker's passwords.conf");
  }
}

void RemoteEvaluations::announce_quarantine(const std::string& worker, const std::string& why) {
  try {
    setup_.transport.set_pool_rules(setup_.session.pool, encode(rules()));
  } catch (const Error&) { // after_reconnection() tells the rules again
  }
  setup_.warn(fmt::format("worker '{0}' is quarantined: {1}. No further result of '{0}' counts. "
                          "Repair the machine, or remove the user '{0}' from the broker's "
                          "passwords.conf; `winnow reverify` judges the leaders again",
                          worker, why));
}

/// Publishes the job again after `delay`. Returns how often that has happened, by `count`.
int RemoteEvaluations::send_again(const ArrivedResult& result, int Pending::*count,
                                  std::chrono::milliseconds delay) {
  setup_.transport.acknowledge(result);
  const std::optional<Pending> pending = find(result.job);
  if (!pending) {
    return 0;
  }
  setup_.transport.withdraw(pending->address); // before it is published again
  int times = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(result.job);
    if (found != pending_.end()) {
      found->second.is_out = false;
      found->second.publish_at = Clock::now() + delay;
      is_rescheduled_ = true;
      found->second.publications = 0; // a result came
      times = ++(found->second.*count);
    }
  }
  changed_.notify_all();
  return times;
}

} // namespace winnow::remote
