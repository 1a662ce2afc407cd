#include "remote/remote_worker.h"

#include "base/error.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTryAgainAfter{500};
constexpr milliseconds kKeeperTick{200};
constexpr milliseconds kSayEvery{30'000};
constexpr milliseconds kAskRulesEvery{500};
constexpr milliseconds kAskRulesAgain{30'000};
/// As a run on one machine: the evaluator has already repeated what failed.
constexpr int kFaultsInARow = 3;
constexpr const char* kCancelledWord = "cancelled";

std::string text_of(const Error& error) {
  return error.what() + (error.remedy().empty() ? "" : "; " + error.remedy());
}

/// Why the machine could not judge; empty: it could.
std::string fault_of(const evaluators::EvaluationResult& result) {
  if (!result.fault.empty()) {
    return result.fault;
  }
  const tasks::Evaluation& first = result.evaluations.front();
  return first.verdict == tasks::Verdict::Infrastructure ? first.detail : std::string();
}

} // namespace

RemoteWorker::RemoteWorker(Setup setup) : setup_(std::move(setup)) {}

RemoteWorker::~RemoteWorker() {
  keeper_ = {}; // ends and joins
  if (evaluations_) {
    evaluations_->stop();
  }
  sittings_.clear();
  sender_ = {};
}

void RemoteWorker::run() {
  wait_for_pool();
  evaluations_ =
      setup_.evaluations([this](evaluators::EvaluationResult result) { take(std::move(result)); });
  keeper_ = std::jthread([this](const std::stop_token& stop) { keep_leases(stop); });
  sender_ = std::jthread([this](const std::stop_token& stop) { send_results(stop); });
  auto complained = Clock::time_point();
  while (!draining_.stop_requested()) {
    try {
      fetch_one();
    } catch (const BrokerRefused& error) {
      fail(text_of(error));
    } catch (const BrokerUnavailable& error) {
      if (Clock::now() - complained > kSayEvery) {
        complained = Clock::now();
        setup_.say(text_of(error) + "; trying again");
      }
      wait(kTryAgainAfter, draining_.get_token());
    }
  }
  std::unique_lock lock(mutex_);
  for (auto& [job, held] : held_) {
    held.stop.request_stop();
  }
  changed_.wait(lock, [this] { return held_.empty() || !failure_.empty(); });
  if (!failure_.empty()) {
    give_all_back(lock);
    throw Error(failure_);
  }
}

/// So that other workers need not wait for the end of the leases.
void RemoteWorker::give_all_back(std::unique_lock<std::mutex>& lock) {
  const std::map<std::string, Held> held = std::exchange(held_, {});
  lock.unlock();
  for (const auto& [id, one] : held) {
    try {
      setup_.transport.give_back(one.job, milliseconds(0));
    } catch (const Error&) { // then the leases end
      return;
    }
  }
}

/// Whether this worker has the job already: its lease ended while the broker was away.
bool RemoteWorker::has_again(const DeliveredJob& job) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(job.address.job);
  if (found == held_.end()) {
    return false;
  }
  found->second.job = job;
  return true;
}

std::size_t RemoteWorker::finished_jobs() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

/// Until a coordinator has said what the pool demands.
void RemoteWorker::wait_for_pool() {
  bool told = false;
  while (!draining_.stop_requested()) {
    try {
      send_heartbeat();
      const auto rules = setup_.transport.pool_rules();
      if (rules && !rules->empty()) {
        check_rules(decode_pool_rules(*rules));
        return;
      }
    } catch (const BrokerUnavailable&) { // what holds the rules comes with the first coordinator
    }
    if (!std::exchange(told, true)) {
      setup_.say("no coordinator has used the pool '" + setup_.self.pool + "' yet: waiting");
    }
    wait(kAskRulesEvery, draining_.get_token());
  }
}

void RemoteWorker::check_rules(const PoolRules& rules) const {
  const std::string why = objection(rules, setup_.self);
  if (!why.empty()) {
    throw Error("this worker cannot work in the pool '" + setup_.self.pool + "': " + why,
                "use another --pool for other devices, and the same Winnow on all machines");
  }
}

void RemoteWorker::fetch_one() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, draining_.get_token(), [this] { return held_.size() < setup_.most_held; });
  }
  if (draining_.stop_requested()) {
    return;
  }
  if (std::optional<DeliveredJob> job = setup_.transport.fetch(setup_.fetch_wait)) {
    accept(*job);
  }
}

void RemoteWorker::accept(const DeliveredJob& job) {
  if (has_again(job)) {
    return;
  }
  Held held;
  held.job = job;
  try {
    const Job message = decode_job(job.body);
    held.kind = message.kind;
    held.publication = message.publication;
    if (message.evaluator_version != setup_.self.evaluator_version) {
      throw UsageError(fmt::format("a coordinator asks for version {} of the evaluator, and this "
                                   "Winnow has version {}; use the same Winnow on all machines",
                                   message.evaluator_version, setup_.self.evaluator_version));
    }
    message.kind == JobKind::Sitting ? begin_sitting(message, std::move(held))
                                     : begin_evaluation(message, std::move(held));
  } catch (const BrokerUnavailable&) {
    setup_.transport.give_back(job, setup_.give_back_delay);
    throw;
  } catch (const UsageError& error) {
    setup_.transport.give_back(job, setup_.give_back_delay);
    fail(text_of(error));
  } catch (const Error& error) {
    setup_.say("a job goes back: " + text_of(error));
    {
      const std::lock_guard lock(mutex_);
      last_fault_ = text_of(error);
    }
    setup_.transport.give_back(job, setup_.give_back_delay);
  }
}

/// Parsing a task takes longer than all else that the worker does for a job.
std::shared_ptr<const tasks::Task> RemoteWorker::task_of(const std::string& digest) {
  if (const auto* known = tasks_.find(digest)) {
    return *known;
  }
  const std::optional<std::string> text = setup_.transport.task(digest);
  if (!text) {
    throw BrokerUnavailable("the broker lacks the task of a job");
  }
  auto task = evaluators::decode_task(*text);
  if (task->digest != digest) {
    throw Error("the broker has another task under the digest " + digest);
  }
  return tasks_.put(digest, std::move(task));
}

void RemoteWorker::begin_evaluation(const Job& message, Held held) {
  evaluators::EvaluationRequest request = evaluators::decode_request_of_task(
      message.request, message.task.empty() ? nullptr : task_of(message.task));
  held.request_id = std::exchange(request.id, held.job.address.job);
  add(std::move(held));
  evaluations_->submit(std::move(request));
}

void RemoteWorker::begin_sitting(const Job& message, Held held) {
  auto request = evaluators::decode_sitting_request(message.request);
  held.request_id = std::exchange(request.id, held.job.address.job);
  const std::string job = held.job.address.job;
  const std::stop_token stop = held.stop.get_token();
  add(std::move(held));
  sittings_.emplace_back(
      [this, request = std::move(request), job, stop] { hold_sitting(request, job, stop); });
}

void RemoteWorker::hold_sitting(const evaluators::SittingRequest& request, const std::string& job,
                                const std::stop_token& stop) {
  evaluators::SittingAnswer answer =
      evaluations_->hold(request, stop, [this, &job](int made, int all) {
        const std::lock_guard lock(mutex_);
        if (const auto found = held_.find(job); found != held_.end()) {
          found->second.step = Clock::now();
          found->second.made = made;
          found->second.all = all;
        }
      });
  if (stop.stop_requested()) {
    send({job, {}, kCancelledWord});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(job); found != held_.end()) {
      answer.id = found->second.request_id;
    }
  }
  send({job, encode(answer), {}});
}

void RemoteWorker::add(Held held) {
  const std::lock_guard lock(mutex_);
  std::string job = held.job.address.job;
  held_.insert_or_assign(std::move(job), std::move(held));
}

void RemoteWorker::take(evaluators::EvaluationResult result) {
  const std::string job = result.id;
  std::string fault = fault_of(result);
  if (!fault.empty()) {
    send({job, {}, std::move(fault)});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(job); found != held_.end()) {
      result.id = found->second.request_id;
    }
  }
  send({job, encode(result), {}});
}

void RemoteWorker::send(Outgoing outgoing) {
  {
    const std::lock_guard lock(mutex_);
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
      setup_.transport.give_back(*again, milliseconds(0));
    }
  } catch (const Error&) { // then the lease ends
  }
}

void RemoteWorker::deliver(const Outgoing& outgoing, const Held& held,
                           const std::stop_token& stop) {
  try {
    if (!outgoing.result.empty()) {
      store_result(outgoing, held, stop);
      return;
    }
    if (held.cancelled) {
      setup_.transport.drop(held.job);
      return;
    }
    const bool is_drained = outgoing.fault == kCancelledWord && draining_.stop_requested();
    setup_.transport.give_back(held.job, is_drained ? milliseconds(0) : setup_.give_back_delay);
    if (is_drained) {
      return;
    }
  } catch (const Error& error) { // the lease ends, and another worker gets the job
    setup_.say(text_of(error));
    return;
  }
  setup_.say("a job goes back: " + outgoing.fault);
  bool keeps_failing = false;
  {
    const std::lock_guard lock(mutex_);
    last_fault_ = outgoing.fault;
    keeps_failing = ++faults_in_a_row_ >= kFaultsInARow;
  }
  if (keeps_failing) {
    fail("this machine keeps failing: " + outgoing.fault);
  }
}

/// First the result, then the end of the job: a worker that dies between them loses nothing. Tries
/// for as long as a job may take.
void RemoteWorker::store_result(const Outgoing& outgoing, const Held& held,
                                const std::stop_token& stop) {
  if (outgoing.result.size() > setup_.transport.max_message_bytes()) {
    throw Error(fmt::format("a result has {} bytes, but the broker takes messages of at most {}",
                            outgoing.result.size(), setup_.transport.max_message_bytes()),
                "raise max_payload in the broker's configuration");
  }
  const auto until = Clock::now() + setup_.hard_limit;
  for (;;) {
    try {
      setup_.transport.publish_result(
          held.job.address, held.job.address.job + "." + held.publication, outgoing.result);
      break;
    } catch (const BrokerUnavailable&) {
      if (Clock::now() > until || wait(kTryAgainAfter, stop)) {
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
    fail(text_of(error));
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

void RemoteWorker::fail(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure_.empty() ? why : failure_;
  }
  drain();
  changed_.notify_all();
}

/// Whether a stop was requested before `time` was over.
bool RemoteWorker::wait(milliseconds time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [] { return false; });
  return stop.stop_requested();
}

} // namespace winnow::remote
