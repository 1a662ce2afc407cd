#include "remote/remote_worker.h"

#include "base/error.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSayEvery{30'000};
constexpr milliseconds kAskRulesEvery{500};

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
      fail(with_remedy(error));
    } catch (const BrokerUnavailable& error) {
      if (Clock::now() - complained > kSayEvery) {
        complained = Clock::now();
        setup_.say(with_remedy(error) + "; trying again");
      }
      wait(kRetryAfter, draining_.get_token());
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
      setup_.transport.give_back(one.job, std::chrono::milliseconds(0));
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
  if (is_quarantined(rules, setup_.name)) {
    throw Error("the pool '" + setup_.self.pool + "' has quarantined the worker '" + setup_.name +
                    "': it sent results that do not count",
                "the coordinator's warnings have the reason; repair this machine, and then `winnow "
                "broker forget` ends all quarantines of the pool");
  }
  const std::string why = objection(rules, setup_.self);
  if (!why.empty()) {
    throw Error("this worker cannot work in the pool '" + setup_.self.pool + "': " + why,
                "use another --pool for other devices, and the same Winnow on all machines");
  }
}

void RemoteWorker::fetch_one() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, draining_.get_token(), [this] { return has_room(); });
  }
  if (draining_.stop_requested()) {
    return;
  }
  if (std::optional<DeliveredJob> job = setup_.transport.fetch(setup_.fetch_wait)) {
    accept(*job);
  }
}

/// Whether a device is free for another job, and the broker takes results. The caller holds the
/// mutex.
bool RemoteWorker::has_room() const {
  const auto at_work = std::count_if(held_.begin(), held_.end(),
                                     [](const auto& held) { return !held.second.is_done; });
  return static_cast<std::size_t>(at_work) < setup_.most_held &&
         held_.size() < 2 * setup_.most_held;
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
    fail(with_remedy(error));
  } catch (const Error& error) {
    setup_.say("a job goes back: " + with_remedy(error));
    {
      const std::lock_guard lock(mutex_);
      last_fault_ = with_remedy(error);
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
    send({job, kCancelled});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(job); found != held_.end()) {
      answer.id = found->second.request_id;
    }
  }
  send({.job = job, .fault = {}, .result = encode(answer)});
}

void RemoteWorker::add(Held held) {
  const std::lock_guard lock(mutex_);
  std::string job = held.job.address.job;
  held_.insert_or_assign(std::move(job), std::move(held));
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
