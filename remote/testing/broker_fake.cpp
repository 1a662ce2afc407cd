#include "remote/testing/broker_fake.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace winnow::remote::test {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kResultsAtOnce = 8;

Receipt receipt_of(std::uint64_t sequence) {
  return std::make_shared<std::uint64_t>(sequence);
}
std::uint64_t sequence_of(const Receipt& receipt) {
  return *std::static_pointer_cast<std::uint64_t>(receipt);
}

} // namespace

class CoordinatorFake : public CoordinatorTransport {
public:
  CoordinatorFake(BrokerFake& broker, std::string session)
      : broker_(broker), session_(std::move(session)) {
    const std::lock_guard lock(broker_.mutex_);
    broker_.listening_[this];
  }
  ~CoordinatorFake() override {
    const std::lock_guard lock(broker_.mutex_);
    broker_.listening_.erase(this);
  }

  void prepare(const std::string& /*pool*/) override { locked(); }
  std::optional<std::string> pool_rules(const std::string& pool) override {
    const auto lock = locked();
    const auto found = broker_.rules_.find(pool);
    return found == broker_.rules_.end() ? std::nullopt : std::optional(found->second);
  }
  void set_pool_rules(const std::string& pool, const std::string& rules) override {
    const auto lock = locked();
    broker_.rules_[pool] = rules;
  }
  void put_task(const std::string& digest, const std::string& text) override {
    const auto lock = locked();
    broker_.tasks_.emplace(digest, text);
  }
  bool publish(const JobAddress& address, const std::string& body) override {
    const auto lock = locked();
    const bool is_there = std::any_of(broker_.jobs_.begin(), broker_.jobs_.end(),
                                      [&](const auto& job) { return job.address == address; });
    if (!is_there) {
      broker_.jobs_.push_back({address, body, ++broker_.last_sequence_, 0, {}, {}});
      ++broker_.publications_;
      broker_.changed_.notify_all();
    }
    return !is_there;
  }
  JobPlace place_of(const JobAddress& address) override {
    const auto lock = locked();
    const auto job = std::find_if(broker_.jobs_.begin(), broker_.jobs_.end(),
                                  [&](const auto& one) { return one.address == address; });
    if (job == broker_.jobs_.end() || job->holder.empty()) {
      return JobPlace::Queued;
    }
    return job->holder == BrokerFake::kNobody ? JobPlace::Stranded : JobPlace::HandedOut;
  }
  void withdraw(const JobAddress& address) override {
    const auto lock = locked();
    broker_.jobs_.remove_if([&](const auto& job) { return job.address == address; });
  }
  void withdraw_all(const std::vector<JobAddress>& addresses) override {
    locked();
    std::for_each(addresses.begin(), addresses.end(),
                  [this](const JobAddress& address) { withdraw(address); });
  }
  void end_session() override {
    const auto lock = locked();
    broker_.results_.remove_if([&](const auto& result) { return result.session == session_; });
  }
  void drop_results(const std::string& worker) override {
    const auto lock = locked();
    broker_.results_.remove_if([&](const auto& result) {
      return result.session == session_ && result.result.worker == worker;
    });
  }
  void cancel(const std::string& job) override {
    const auto lock = locked();
    for (auto& [worker, cancelled] : broker_.cancelled_) {
      cancelled.push_back({session_, job});
    }
  }
  std::vector<ArrivedResult> results(milliseconds wait) override {
    auto lock = locked();
    std::vector<ArrivedResult> arrived;
    broker_.changed_.wait_for(lock, wait, [&] {
      for (auto& result : broker_.results_) {
        if (broker_.is_up_ && is_waiting(result) && arrived.size() < kResultsAtOnce) {
          result.is_handed_out = true;
          arrived.push_back(result.result);
        }
      }
      return !arrived.empty();
    });
    return arrived;
  }
  bool has_results() override {
    const auto lock = locked();
    return std::any_of(broker_.results_.begin(), broker_.results_.end(),
                       [this](const auto& result) { return is_waiting(result); });
  }
  void acknowledge(const ArrivedResult& result) override {
    const auto lock = locked();
    broker_.results_.remove_if(
        [&](const auto& stored) { return stored.sequence == sequence_of(result.receipt); });
  }
  std::vector<JobAddress> dead_jobs() override {
    const auto lock = locked();
    return std::exchange(broker_.dead_, {});
  }
  void ask_workers() override {
    const auto lock = locked();
    for (const auto& [worker, cancelled] : broker_.cancelled_) {
      broker_.asked_.insert(worker);
    }
  }
  std::vector<WorkerMessage> heartbeats() override {
    const auto lock = locked();
    const std::deque<WorkerMessage> heard = std::exchange(broker_.listening_[this], {});
    return {heard.begin(), heard.end()};
  }
  std::uint64_t reconnections() const override {
    const std::lock_guard lock(broker_.mutex_);
    return broker_.reconnections_;
  }
  bool is_connected() const override {
    const std::lock_guard lock(broker_.mutex_);
    return broker_.is_up_;
  }
  std::size_t max_message_bytes() const override {
    const std::lock_guard lock(broker_.mutex_);
    return broker_.max_message_bytes_;
  }

private:
  std::unique_lock<std::mutex> locked() const {
    std::unique_lock lock(broker_.mutex_);
    broker_.require_up();
    return lock;
  }
  bool is_waiting(const BrokerFake::StoredResult& result) const {
    return result.session == session_ && !result.is_handed_out;
  }

  BrokerFake& broker_;
  std::string session_;
};

class WorkerFake : public WorkerTransport {
public:
  WorkerFake(BrokerFake& broker, WorkerIdentity identity)
      : broker_(broker), identity_(std::move(identity)) {
    const std::lock_guard lock(broker_.mutex_);
    broker_.cancelled_[this];
  }
  ~WorkerFake() override {
    const std::lock_guard lock(broker_.mutex_);
    broker_.cancelled_.erase(this);
  }

  std::optional<std::string> pool_rules() override {
    const auto lock = locked();
    const auto found = broker_.rules_.find(identity_.pool);
    return found == broker_.rules_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::string> task(const std::string& digest) override {
    const auto lock = locked();
    const auto found = broker_.tasks_.find(digest);
    return found == broker_.tasks_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<DeliveredJob> fetch(milliseconds wait) override {
    auto lock = locked();
    std::optional<DeliveredJob> fetched;
    broker_.changed_.wait_for(lock, wait, [&] {
      fetched = next();
      return fetched.has_value();
    });
    return fetched;
  }
  void extend(const DeliveredJob& /*job*/) override { locked(); }
  void publish_result(const JobAddress& address, const std::string& message_id,
                      const std::string& body) override {
    auto lock = locked();
    if (broker_.message_ids_.insert(message_id).second) {
      const std::uint64_t sequence = ++broker_.last_sequence_;
      broker_.results_.push_back({address.session,
                                  {address.job, identity_.name, body, receipt_of(sequence)},
                                  sequence,
                                  false});
      ++broker_.stored_results_;
      broker_.changed_.notify_all();
    }
    broker_.changed_.wait(lock, [this] { return broker_.confirms_; });
  }
  void finish(const DeliveredJob& job) override { remove(job); }
  void give_back(const DeliveredJob& job, milliseconds delay) override {
    const auto lock = locked();
    const auto found = broker_.find(sequence_of(job.receipt));
    if (found != broker_.jobs_.end()) {
      broker_.release(*found, delay);
    }
  }
  void drop(const DeliveredJob& job) override { remove(job); }
  std::vector<Cancellation> cancelled() override {
    const auto lock = locked();
    const std::deque<Cancellation> heard = std::exchange(broker_.cancelled_[this], {});
    return {heard.begin(), heard.end()};
  }
  bool is_asked() override {
    const auto lock = locked();
    return broker_.asked_.erase(this) > 0;
  }
  void heartbeat(const std::string& body) override {
    const auto lock = locked();
    for (auto& [coordinator, messages] : broker_.listening_) {
      messages.push_back({identity_.pool, identity_.name, body});
    }
  }
  bool is_connected() const override {
    const std::lock_guard lock(broker_.mutex_);
    return broker_.is_up_;
  }
  std::size_t max_message_bytes() const override {
    const std::lock_guard lock(broker_.mutex_);
    return broker_.max_message_bytes_;
  }

private:
  std::unique_lock<std::mutex> locked() const {
    std::unique_lock lock(broker_.mutex_);
    broker_.require_up();
    return lock;
  }
  void remove(const DeliveredJob& job) {
    const auto lock = locked();
    const auto found = broker_.find(sequence_of(job.receipt));
    if (found != broker_.jobs_.end()) {
      broker_.jobs_.erase(found);
    }
  }
  std::optional<DeliveredJob> next() {
    for (auto& job : broker_.jobs_) {
      const bool fits = job.address.pool == identity_.pool &&
                        (!job.address.trusted || identity_.trusted) && job.holder.empty() &&
                        job.deliveries < kMostDeliveries && job.available <= Clock::now();
      if (broker_.is_up_ && fits) {
        job.holder = identity_.name;
        ++job.deliveries;
        return DeliveredJob{job.address, job.body, job.deliveries, receipt_of(job.sequence)};
      }
    }
    return std::nullopt;
  }

  BrokerFake& broker_;
  WorkerIdentity identity_;
};

std::unique_ptr<CoordinatorTransport> BrokerFake::coordinator(const std::string& session) {
  return std::make_unique<CoordinatorFake>(*this, session);
}

std::unique_ptr<WorkerTransport> BrokerFake::worker(const WorkerIdentity& identity) {
  return std::make_unique<WorkerFake>(*this, identity);
}

std::unique_ptr<CoordinatorTransport> BrokerFake::coordinator(const BrokerAddress& /*broker*/,
                                                              const std::string& session) {
  return coordinator(session);
}

std::unique_ptr<WorkerTransport> BrokerFake::worker(const BrokerAddress& /*broker*/,
                                                    const WorkerIdentity& identity) {
  return worker(identity);
}

void BrokerFake::go_down() {
  const std::lock_guard lock(mutex_);
  is_up_ = false;
}

void BrokerFake::come_back(bool empty) {
  {
    const std::lock_guard lock(mutex_);
    is_up_ = true;
    ++reconnections_;
    if (empty) {
      jobs_.clear();
      results_.clear();
      message_ids_.clear();
      rules_.clear();
      tasks_.clear();
      dead_.clear();
    }
  }
  changed_.notify_all();
}

void BrokerFake::confirm_results(bool confirms) {
  {
    const std::lock_guard lock(mutex_);
    confirms_ = confirms;
  }
  changed_.notify_all();
}

void BrokerFake::take_at_most(std::size_t message_bytes) {
  const std::lock_guard lock(mutex_);
  max_message_bytes_ = message_bytes;
}

void BrokerFake::strand_jobs() {
  const std::lock_guard lock(mutex_);
  for (StoredJob& job : jobs_) {
    job.holder = job.holder.empty() ? kNobody : job.holder;
  }
}

void BrokerFake::lose_worker(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    for (StoredJob& job : jobs_) {
      if (job.holder == name) {
        release(job, {});
      }
    }
  }
  changed_.notify_all();
}

void BrokerFake::forge_result(const JobAddress& address, const std::string& worker,
                              const std::string& body) {
  static std::atomic<int> forged{0};
  WorkerFake(*this, {worker, address.pool, false})
      .publish_result(address, "forged " + std::to_string(++forged), body);
}

std::size_t BrokerFake::queued() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

int BrokerFake::publications() const {
  const std::lock_guard lock(mutex_);
  return publications_;
}

std::size_t BrokerFake::kept_results() const {
  const std::lock_guard lock(mutex_);
  return results_.size();
}

int BrokerFake::stored_results() const {
  const std::lock_guard lock(mutex_);
  return stored_results_;
}

void BrokerFake::require_up() const {
  if (!is_up_) {
    throw BrokerUnavailable("the broker is away");
  }
}

void BrokerFake::release(StoredJob& job, milliseconds delay) {
  job.holder.clear();
  job.available = Clock::now() + delay;
  if (job.deliveries >= kMostDeliveries) {
    dead_.push_back(job.address);
  }
  changed_.notify_all();
}

std::list<BrokerFake::StoredJob>::iterator BrokerFake::find(std::uint64_t sequence) {
  return std::find_if(jobs_.begin(), jobs_.end(),
                      [&](const StoredJob& job) { return job.sequence == sequence; });
}

} // namespace winnow::remote::test
