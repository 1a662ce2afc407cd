#include "remote/remote_evaluations.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/random_bits.h"
#include "remote/result_check.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using evaluators::SittingAnswer;
using evaluators::SittingRequest;
using std::chrono::milliseconds;

constexpr milliseconds kTendEvery{1000};
constexpr milliseconds kRetryAfter{500};
constexpr milliseconds kDrainWait{50};
constexpr milliseconds kHoldTick{100};
constexpr milliseconds kComplainAfter{5'000};
constexpr milliseconds kComplainEvery{60'000};
/// A job that is gone without a result that often will not get one.
constexpr int kMostPublications = 10;
/// Results that fail their check.
constexpr int kMostRefusedResults = 3;
/// Results of requests that have not been made (yet).
constexpr std::size_t kMostEarlyResults = 10'000;
constexpr std::size_t kSessionDigits = 32;

std::string words_of(const Error& error) {
  return error.what() + (error.remedy().empty() ? "" : "; " + error.remedy());
}

} // namespace

std::string RemoteSession::id() const {
  return sha256_hex("session " + secret).substr(0, kSessionDigits);
}

std::string RemoteSession::job_of(const std::string& request_id) const {
  return sha256_hex(secret + " " + request_id);
}

RemoteEvaluations::RemoteEvaluations(Setup setup)
    : setup_(std::move(setup)), session_(setup_.session.id()), heard_(Clock::now()) {
  setup_.transport.prepare(setup_.session.pool);
  reconnections_ = setup_.transport.reconnections();
  for (;;) {
    const std::vector<ArrivedResult> results = setup_.transport.results(kDrainWait);
    if (results.empty()) {
      break;
    }
    for (const ArrivedResult& result : results) {
      handle(result);
    }
  }
  sender_ = std::thread([this] { send_jobs(); });
  receiver_ = std::thread([this] { receive(); });
}

RemoteEvaluations::~RemoteEvaluations() {
  stop();
}

void RemoteEvaluations::submit(EvaluationRequest request) {
  Pending pending;
  const bool trusted = request.depth == evaluators::Depth::HeldOut;
  pending.address = {setup_.session.pool, trusted, session_, setup_.session.job_of(request.id)};
  pending.request = std::move(request);
  const std::string job = pending.address.job;
  {
    const std::lock_guard lock(mutex_);
    if (const auto early = early_.find(job); early != early_.end()) {
      pending.published = Clock::now();
      arrived_.push_back(std::move(early->second));
      early_.erase(early);
    }
    pending_[job] = std::move(pending);
  }
  changed_.notify_all();
}

void RemoteEvaluations::cancel(const std::string& id) {
  fail(setup_.session.job_of(id), "cancelled");
}

SittingAnswer RemoteEvaluations::hold(const SittingRequest& request, const std::stop_token& stop,
                                      const evaluators::HoldProgress& progress) {
  Pending pending;
  pending.kind = JobKind::Sitting;
  // The same final may be asked for again after a fault.
  pending.address = {setup_.session.pool, true, session_,
                     setup_.session.job_of(request.id + std::to_string(random_bits()))};
  pending.sitting = &request;
  pending.sitting_text = encode(request);
  pending.answer = std::make_shared<std::promise<SittingAnswer>>();
  std::future<SittingAnswer> answer = pending.answer->get_future();
  const std::string job = pending.address.job;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      return failed_sittings(request, "cancelled");
    }
    pending_[job] = std::move(pending);
  }
  changed_.notify_all();
  return wait_for_answer(request, job, std::move(answer), stop, progress);
}

SittingAnswer RemoteEvaluations::wait_for_answer(const SittingRequest& request,
                                                 const std::string& job,
                                                 std::future<SittingAnswer> answer,
                                                 const std::stop_token& stop,
                                                 const evaluators::HoldProgress& progress) {
  auto trusted_at = Clock::now();
  int told = -1;
  while (answer.wait_for(kHoldTick) != std::future_status::ready) {
    if (stop.stop_requested()) {
      fail(job, "cancelled");
    }
    const auto held = setup_.roster.held(job);
    if (held && held->made != told) {
      progress(held->made, held->all);
      told = held->made;
    }
    const auto now = Clock::now();
    trusted_at = setup_.roster.any_trusted() ? now : trusted_at;
    if (now - trusted_at > setup_.patience.trusted_worker) {
      fail(job, "no trusted worker of pool '" + setup_.session.pool +
                    "' is alive; start one with `winnow worker --trusted`");
    }
  }
  try {
    return answer.get();
  } catch (const std::future_error&) { // stop() has dropped it
    return failed_sittings(request, "cancelled");
  }
}

void RemoteEvaluations::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) {
      return;
    }
  }
  changed_.notify_all();
  sender_.join();
  receiver_.join();
  const std::lock_guard lock(mutex_);
  const std::map<std::string, Pending> dropped = std::exchange(pending_, {});
  try {
    setup_.transport.cancel("");
    for (const auto& [job, pending] : dropped) {
      setup_.transport.withdraw(pending.address);
    }
    for (const auto& [pending, fault] : std::exchange(faults_, {})) {
      setup_.transport.withdraw(pending.address);
    }
    setup_.transport.end_session();
  } catch (const Error& error) {
    setup_.warn("the broker keeps the jobs of this session for up to a week: " + words_of(error));
  }
}

/// Waits, and returns whether there is something to do before `time` is over.
bool RemoteEvaluations::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopping_; });
}

void RemoteEvaluations::send_jobs() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::min(kTendEvery, setup_.patience.publish_again), [this] {
        const auto is_new = [](const auto& entry) { return !entry.second.published; };
        return stopping_ || !arrived_.empty() || !faults_.empty() ||
               std::any_of(pending_.begin(), pending_.end(), is_new);
      });
      if (stopping_) {
        return;
      }
    }
    try {
      take_faults();
      after_reconnection();
      send_due_jobs();
      tend();
      heard_ = setup_.transport.is_connected() ? Clock::now() : heard_;
    } catch (const BrokerRefused& error) {
      complain(words_of(error));
      fail_all(words_of(error));
      pause(kRetryAfter);
    } catch (const Error& error) {
      complain(words_of(error));
      pause(kRetryAfter);
    }
  }
}

/// Results that came early, and all jobs that the broker may lack.
void RemoteEvaluations::send_due_jobs() {
  std::vector<ArrivedResult> arrived;
  std::vector<std::string> due;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
    for (const auto& [job, pending] : pending_) {
      if (!pending.published || Clock::now() - *pending.published > setup_.patience.publish_again) {
        due.push_back(job);
      }
    }
  }
  for (const ArrivedResult& result : arrived) {
    handle(result);
  }
  for (const std::string& job : due) {
    publish(job);
  }
}

Job RemoteEvaluations::message_of(const Pending& pending) {
  Job job;
  if (pending.kind == JobKind::Sitting) {
    job.kind = JobKind::Sitting;
    job.request = pending.sitting_text;
  } else if (pending.address.trusted) {
    job.request = encode(pending.request);
  } else {
    job = parcels_.for_any_worker(pending.request, setup_.transport);
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
    fail(job, words_of(error));
    return;
  }
  if (body.size() > setup_.transport.max_message_bytes()) {
    fail(job, fmt::format("the job has {} bytes, but the broker takes messages of at most {}; "
                          "raise max_payload in the broker's configuration",
                          body.size(), setup_.transport.max_message_bytes()));
    return;
  }
  mark_published(job, setup_.transport.publish(pending->address, body));
}

void RemoteEvaluations::mark_published(const std::string& job, bool is_taken) {
  bool is_lost = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = pending_.find(job); found != pending_.end()) {
      found->second.published = Clock::now();
      found->second.publications += is_taken ? 1 : 0;
      is_lost = found->second.publications > kMostPublications;
    }
  }
  if (is_lost) {
    fail(job, fmt::format("the job was lost {} times: workers or the broker removed the job, and "
                          "no result came",
                          kMostPublications));
  }
}

void RemoteEvaluations::after_reconnection() {
  const std::uint64_t now = setup_.transport.reconnections();
  if (now == reconnections_) {
    return;
  }
  setup_.transport.prepare(setup_.session.pool);
  setup_.transport.set_pool_rules(setup_.session.pool, encode(setup_.session.rules));
  parcels_.forget_kept();
  {
    const std::lock_guard lock(mutex_);
    for (auto& [job, pending] : pending_) {
      pending.published.reset();
    }
  }
  reconnections_ = now;
  setup_.warn("the broker is there again; jobs that it has lost are published again");
}

void RemoteEvaluations::tend() {
  if (Clock::now() - tended_ < kTendEvery) {
    return;
  }
  tended_ = Clock::now();
  setup_.roster.update(setup_.transport);
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

/// The job ends without a result. The sending thread tells whoever waits.
void RemoteEvaluations::fail(const std::string& job, const std::string& fault) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(job);
    if (found == pending_.end()) {
      return;
    }
    if (found->second.answer) { // now, because its request may not live longer
      found->second.answer->set_value(failed_sittings(*found->second.sitting, fault));
      found->second.answer.reset();
    }
    faults_.emplace_back(std::move(found->second), fault);
    pending_.erase(found);
  }
  changed_.notify_all();
}

void RemoteEvaluations::take_faults() {
  std::vector<std::pair<Pending, std::string>> faults;
  {
    const std::lock_guard lock(mutex_);
    faults.swap(faults_);
  }
  for (const auto& [pending, fault] : faults) {
    if (pending.kind == JobKind::Evaluation) {
      setup_.done({pending.request.id, {}, {}, fault});
    }
  }
  for (const auto& [pending, fault] : faults) {
    setup_.transport.withdraw(pending.address);
    setup_.transport.cancel(pending.address.job);
  }
}

void RemoteEvaluations::receive() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        return;
      }
    }
    try {
      for (const ArrivedResult& result : setup_.transport.results(setup_.patience.results)) {
        handle(result);
      }
    } catch (const Error&) { // the sending thread tells the user when it lasts
      pause(kRetryAfter);
    }
  }
}

std::optional<RemoteEvaluations::Pending> RemoteEvaluations::find(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(job);
  return found == pending_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<RemoteEvaluations::Pending> RemoteEvaluations::remove(const std::string& job) {
  const std::lock_guard lock(mutex_);
  auto node = pending_.extract(job);
  if (!node.empty()) {
    answered_.insert(job);
  }
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

void RemoteEvaluations::handle(const ArrivedResult& result) {
  const std::optional<Pending> pending = find(result.job);
  if (!pending) {
    bool is_early = false;
    {
      const std::lock_guard lock(mutex_);
      is_early = !answered_.contains(result.job) && early_.size() < kMostEarlyResults;
      if (is_early) {
        early_[result.job] = result;
      }
    }
    if (!is_early) {
      setup_.transport.acknowledge(result);
    }
    return;
  }
  try {
    take(*pending, result);
  } catch (const BrokerUnavailable&) {
    throw;
  } catch (const BrokerRefused&) {
    throw;
  } catch (const Error& error) {
    refuse(result, words_of(error));
    return;
  }
  setup_.transport.acknowledge(result);
  setup_.transport.withdraw(pending->address); // its worker may have died before it finished
}

/// Every result that counts comes through here.
void RemoteEvaluations::take(const Pending& pending, const ArrivedResult& result) {
  const PoolRules& rules = setup_.session.rules;
  if (pending.kind == JobKind::Evaluation) {
    EvaluationResult checked = checked_result(pending.request, rules, {result.worker, result.body});
    if (remove(result.job)) {
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
  setup_.transport.acknowledge(result);
  const std::optional<Pending> pending = find(result.job);
  if (!pending) {
    return;
  }
  setup_.transport.withdraw(pending->address); // before it is published again
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(result.job);
    if (found != pending_.end()) {
      found->second.published.reset();
      is_last = ++found->second.refused_results >= kMostRefusedResults;
    }
  }
  if (is_last) {
    fail(result.job, "workers sent results that do not count: " + why);
  }
  changed_.notify_all();
}

} // namespace winnow::remote
