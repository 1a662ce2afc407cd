#include "remote/nats/nats_connection.h"
#include "remote/nats/nats_names.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kSecond = 1'000'000'000; // in nanoseconds
constexpr std::int64_t kWeek = 604'800 * kSecond;
constexpr std::int64_t kResultLease = 60 * kSecond;
constexpr std::int64_t kDuplicateWindow = 3'600 * kSecond;
constexpr std::int64_t kMostResultBytes = std::int64_t{8} << 30;
constexpr std::int64_t kMostPending = 20'000; // deliveries without an answer, of a consumer
/// Workers of a pool that wait for a job. The server's default is 512, and it refuses the others.
constexpr std::int64_t kMostWaiting = 20'000;
constexpr std::size_t kResultsAtOnce = 64;
constexpr std::size_t kNoticesAtOnce = 16;
constexpr milliseconds kPeek{20};
// Error codes of JetStream that the client library does not name.
constexpr jsErrCode kSubjectIsTaken = static_cast<jsErrCode>(10077);

struct StreamPlan {
  std::string name;
  std::array<std::string, 2> subjects; ///< the second may be empty
  jsRetentionPolicy retention;
  std::int64_t most_bytes; ///< -1: no limit
  bool one_each;           ///< one message a subject; more are refused
};

std::vector<StreamPlan> streams_of(const std::string& pool) {
  const std::string dead = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.";
  return {
      {kJobStream, {"wjob.>", ""}, js_WorkQueuePolicy, -1, true},
      {kTrustedStream, {"wtrust.>", ""}, js_WorkQueuePolicy, -1, true},
      {result_stream(pool),
       {"wresult." + pool + ".>", ""},
       js_WorkQueuePolicy,
       kMostResultBytes,
       false},
      {kDeadStream, {dead + "WJOB.>", dead + "WTRUST.>"}, js_LimitsPolicy, -1, false},
  };
}

class NatsCoordinator : public CoordinatorTransport {
public:
  NatsCoordinator(const BrokerAddress& broker, std::string session)
      : session_(std::move(session)), nats_(broker, "coordinator-" + session_),
        heartbeats_(nats_.subscribe(heartbeat_subject("*", "*"))) {}

  void prepare(const std::string& pool) override {
    {
      const std::lock_guard lock(mutex_);
      pool_ = pool;
    }
    for (const StreamPlan& plan : streams_of(pool)) {
      make_stream(plan);
    }
    make_store(store_of(pool));
    for (const bool trusted : {false, true}) {
      make_consumer(stream_of(trusted), pool, pool_subject(pool, trusted) + ".>",
                    std::chrono::nanoseconds(kLease).count(), kMostDeliveries, js_DeliverAll);
    }
    if (is_new_.exchange(false)) { // so that results come again at once, not after a minute
      js_DeleteConsumer(nats_.stream_context(), result_stream(pool).c_str(), session_.c_str(),
                        nullptr, nullptr);
    }
    make_consumer(result_stream(pool), session_, result_subject(pool, session_) + ".>",
                  kResultLease, -1, js_DeliverAll);
    make_consumer(kDeadStream, session_, "", kResultLease, -1, js_DeliverNew);
  }

  std::optional<std::string> pool_rules(const std::string& pool) override {
    return nats_.look_up(store(pool).get(), kRulesKey);
  }
  void set_pool_rules(const std::string& pool, const std::string& rules) override {
    put(pool, kRulesKey, rules);
  }
  void put_task(const std::string& digest, const std::string& text) override {
    if (!nats_.look_up(store(pool()).get(), digest)) {
      put(pool(), digest, text);
    }
  }

  bool publish(const JobAddress& address, const std::string& body) override {
    jsErrCode code{};
    const natsStatus status =
        js_Publish(nullptr, nats_.stream_context(), job_subject(address).c_str(), body.data(),
                   static_cast<int>(body.size()), nullptr, &code);
    if (code == kSubjectIsTaken) {
      return false;
    }
    nats_.require(status, "store a job");
    return true;
  }
  JobPlace place_of(const JobAddress& address) override {
    const std::uint64_t number = number_of(address);
    if (number == 0) {
      return JobPlace::Queued;
    }
    jsConsumerInfo* info = nullptr;
    nats_.require(js_GetConsumerInfo(&info, nats_.stream_context(), stream_of(address.trusted),
                                     address.pool.c_str(), nullptr, nullptr),
                  "look at the jobs of a pool");
    const bool was_delivered = number <= info->Delivered.Stream;
    const auto known = static_cast<std::int64_t>(info->NumPending) + info->NumAckPending;
    jsConsumerInfo_Destroy(info);
    if (!was_delivered) {
      return JobPlace::Queued;
    }
    const auto jobs =
        subjects_of(address.trusted, pool_subject(address.pool, address.trusted) + ".>").size();
    return static_cast<std::int64_t>(jobs) > known ? JobPlace::Stranded : JobPlace::HandedOut;
  }
  /// Deletes the message by its number. Not by js_PurgeStream() with a subject: after that, server
  /// 2.9.10 hands the other jobs of the consumer out no more.
  void withdraw(const JobAddress& address) override {
    const std::uint64_t number = number_of(address);
    if (number == 0) {
      return;
    }
    jsErrCode code{};
    const natsStatus deleted =
        js_DeleteMsg(nats_.stream_context(), stream_of(address.trusted), number, nullptr, &code);
    if (code == jsErrCode{}) { // otherwise its worker was faster
      nats_.require(deleted, "withdraw a job");
    }
  }
  void withdraw_all(const std::vector<JobAddress>& addresses) override {
    for (const bool trusted : {false, true}) {
      std::optional<std::set<std::string>> left;
      for (const JobAddress& address : addresses) {
        if (address.trusted != trusted) {
          continue;
        }
        if (!left) {
          left = subjects_of(trusted,
                             pool_subject(address.pool, trusted) + "." + address.session + ".>");
        }
        if (left->contains(job_subject(address))) {
          withdraw(address);
        }
      }
    }
  }
  void end_session() override {
    for (auto left = results(kPeek); !left.empty(); left = results(kPeek)) {
      for (const ArrivedResult& result : left) {
        acknowledge(result);
      }
    }
    const std::lock_guard lock(mutex_);
    NatsConnection::end(std::exchange(results_, nullptr));
    NatsConnection::end(std::exchange(dead_, nullptr));
    for (const std::string& stream : {result_stream(pool_), std::string(kDeadStream)}) {
      js_DeleteConsumer(nats_.stream_context(), stream.c_str(), session_.c_str(), nullptr, nullptr);
    }
  }
  void cancel(const std::string& job) override {
    nats_.publish(cancel_subject(pool(), session_), job);
  }

  std::vector<ArrivedResult> results(milliseconds wait) override {
    natsSubscription* from = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (results_ == nullptr) {
        results_ =
            nats_.pull(result_stream(pool_), session_, result_subject(pool_, session_) + ".>");
      }
      from = results_;
    }
    std::vector<ArrivedResult> arrived;
    for (OwnedMessage message = nats_.fetch(from, wait); message;) {
      const bool are_more = arrived.size() + 1 < kResultsAtOnce && are_waiting_after(message.get());
      arrived.push_back(result_in(std::move(message)));
      message = are_more ? nats_.fetch(from, kPeek) : nullptr;
    }
    return arrived;
  }
  void drop_results(const std::string& worker) override {
    const std::string subject = result_subject(pool(), session_) + ".*." + worker;
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Purge.Subject = subject.c_str();
    nats_.require(
        js_PurgeStream(nats_.stream_context(), result_stream(pool()).c_str(), &options, nullptr),
        "drop the results of a worker");
  }
  bool has_results() override {
    jsConsumerInfo* info = nullptr;
    nats_.require(js_GetConsumerInfo(&info, nats_.stream_context(), result_stream(pool()).c_str(),
                                     session_.c_str(), nullptr, nullptr),
                  "count the results");
    const bool has_results = info->NumPending > 0;
    jsConsumerInfo_Destroy(info);
    return has_results;
  }
  void acknowledge(const ArrivedResult& result) override {
    nats_.require(natsMsg_Ack(static_cast<natsMsg*>(result.receipt.get()), nullptr),
                  "acknowledge a result");
  }

  std::vector<JobAddress> dead_jobs() override {
    const std::lock_guard lock(mutex_);
    if (dead_ == nullptr) {
      dead_ = nats_.pull(kDeadStream, session_, "");
    }
    std::vector<JobAddress> jobs;
    while (jobs.size() < kNoticesAtOnce) {
      const OwnedMessage notice = nats_.fetch(dead_, kPeek);
      if (!notice) {
        break;
      }
      if (auto job = job_in(body_of(notice.get()))) {
        jobs.push_back(std::move(*job));
      }
      natsMsg_Ack(notice.get(), nullptr);
    }
    return jobs;
  }

  void ask_workers() override { nats_.publish("wask", ""); }
  std::vector<WorkerMessage> heartbeats() override {
    std::vector<WorkerMessage> heard;
    for (const OwnedMessage& message : nats_.waiting(heartbeats_)) {
      const auto tokens = tokens_of(natsMsg_GetSubject(message.get())); // wworker.POOL.WORKER
      heard.push_back({tokens.at(1), tokens.at(2), body_of(message.get())});
    }
    return heard;
  }
  std::uint64_t reconnections() const override { return nats_.reconnections(); }
  bool is_connected() const override { return nats_.is_connected(); }
  std::size_t max_message_bytes() const override { return nats_.max_message_bytes(); }

private:
  /// The number of the job's message in its stream; 0: there is no such job.
  std::uint64_t number_of(const JobAddress& address) {
    natsMsg* message = nullptr;
    const natsStatus status =
        js_GetLastMsg(&message, nats_.stream_context(), stream_of(address.trusted),
                      job_subject(address).c_str(), nullptr, nullptr);
    if (status == NATS_NOT_FOUND) {
      return 0;
    }
    nats_.require(status, "find a job");
    return natsMsg_GetSequence(OwnedMessage(message).get());
  }

  /// Of the jobs that the server has.
  std::set<std::string> subjects_of(bool trusted, const std::string& filter) {
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Info.SubjectsFilter = filter.c_str();
    jsStreamInfo* info = nullptr;
    nats_.require(
        js_GetStreamInfo(&info, nats_.stream_context(), stream_of(trusted), &options, nullptr),
        "list the jobs of a pool");
    std::set<std::string> subjects;
    const jsStreamStateSubjects* found = info->State.Subjects;
    for (int i = 0; found != nullptr && i < found->Count; ++i) {
      subjects.insert(found->List[i].Subject);
    }
    jsStreamInfo_Destroy(info);
    return subjects;
  }

  void make_stream(const StreamPlan& plan) {
    jsStreamInfo* info = nullptr;
    const natsStatus found =
        js_GetStreamInfo(&info, nats_.stream_context(), plan.name.c_str(), nullptr, nullptr);
    jsStreamInfo_Destroy(info);
    if (found != NATS_NOT_FOUND) {
      nats_.require(found, "find the stream " + plan.name);
      return;
    }
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    std::array<const char*, 2> subjects{plan.subjects[0].c_str(), plan.subjects[1].c_str()};
    config.Name = plan.name.c_str();
    config.Subjects = subjects.data();
    config.SubjectsLen = plan.subjects[1].empty() ? 1 : 2;
    config.Retention = plan.retention;
    config.Storage = js_FileStorage;
    config.MaxAge = kWeek;
    config.MaxBytes = plan.most_bytes;
    config.Duplicates = kDuplicateWindow;
    if (plan.one_each) {
      config.Discard = js_DiscardNew;
      config.MaxMsgsPerSubject = 1;
      config.DiscardNewPerSubject = true;
    }
    nats_.require(js_AddStream(nullptr, nats_.stream_context(), &config, nullptr, nullptr),
                  "make the stream " + plan.name);
  }

  void make_consumer(const std::string& stream, const std::string& name, const std::string& subject,
                     std::int64_t lease, int most_deliveries, jsDeliverPolicy policy) {
    jsConsumerInfo* info = nullptr;
    const natsStatus found = js_GetConsumerInfo(&info, nats_.stream_context(), stream.c_str(),
                                                name.c_str(), nullptr, nullptr);
    jsConsumerInfo_Destroy(info);
    if (found != NATS_NOT_FOUND) {
      nats_.require(found, "find a consumer of " + stream);
      return;
    }
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.Durable = name.c_str();
    config.AckPolicy = js_AckExplicit;
    config.AckWait = lease;
    config.MaxDeliver = most_deliveries;
    config.MaxAckPending = kMostPending;
    config.MaxWaiting = kMostWaiting;
    config.DeliverPolicy = policy;
    if (!subject.empty()) {
      config.FilterSubject = subject.c_str();
    }
    if (name == session_) {
      config.InactiveThreshold = kWeek;
    }
    nats_.require(
        js_AddConsumer(nullptr, nats_.stream_context(), stream.c_str(), &config, nullptr, nullptr),
        "make a consumer of " + stream);
  }

  void make_store(const std::string& bucket) {
    if (nats_.open_store(bucket)) {
      return;
    }
    kvConfig config;
    kvConfig_Init(&config);
    config.Bucket = bucket.c_str();
    kvStore* made = nullptr;
    nats_.require(js_CreateKeyValue(&made, nats_.stream_context(), &config),
                  "make the store " + bucket);
    kvStore_Destroy(made);
  }

  std::string pool() {
    const std::lock_guard lock(mutex_);
    return pool_;
  }

  OwnedStore store(const std::string& pool) {
    OwnedStore opened = nats_.open_store(store_of(pool));
    if (!opened) {
      throw BrokerUnavailable("the broker has lost the store of the pool '" + pool + "'");
    }
    return opened;
  }

  void put(const std::string& pool, const std::string& key, const std::string& value) {
    nats_.require(kvStore_Put(nullptr, store(pool).get(), key.c_str(), value.data(),
                              static_cast<int>(value.size())),
                  "store " + key);
  }

  /// Whether the server has messages after this one.
  static bool are_waiting_after(natsMsg* message) {
    jsMsgMetaData* facts = nullptr;
    if (natsMsg_GetMetaData(&facts, message) != NATS_OK) {
      return false;
    }
    const bool are_waiting = facts->NumPending > 0;
    jsMsgMetaData_Destroy(facts);
    return are_waiting;
  }

  static ArrivedResult result_in(OwnedMessage message) { // wresult.POOL.SESSION.JOB.WORKER
    const auto tokens = tokens_of(natsMsg_GetSubject(message.get()));
    std::string body = body_of(message.get());
    return {tokens.at(3), tokens.at(4), std::move(body),
            Receipt(message.release(), natsMsg_Destroy)};
  }

  /// The job of this session that the server's notice is about; nullopt: there is none (any more).
  std::optional<JobAddress> job_in(const std::string& notice) {
    const auto json = nlohmann::json::parse(notice, nullptr, false);
    if (!json.is_object()) {
      return std::nullopt;
    }
    const std::string stream = json.value("stream", "");
    natsMsg* message = nullptr;
    const natsStatus status =
        js_GetMsg(&message, nats_.stream_context(), stream.c_str(),
                  json.value("stream_seq", std::uint64_t{0}), nullptr, nullptr);
    if (status != NATS_OK) {
      return std::nullopt;
    }
    const OwnedMessage owned(message);
    const auto tokens = tokens_of(natsMsg_GetSubject(message)); // wjob.POOL.SESSION.JOB
    if (tokens.size() != 4 || tokens[2] != session_) {
      return std::nullopt;
    }
    return JobAddress{tokens[1], stream == kTrustedStream, session_, tokens[3]};
  }

  std::string session_;
  NatsConnection nats_;
  natsSubscription* heartbeats_;
  /// An earlier coordinator of this session may have died with results that it had not stored.
  std::atomic<bool> is_new_{true};
  std::mutex mutex_; ///< guards the members below
  std::string pool_; ///< the last one that was prepared
  natsSubscription *results_ = nullptr, *dead_ = nullptr;
};

} // namespace

std::unique_ptr<CoordinatorTransport> nats_coordinator(const BrokerAddress& broker,
                                                       const std::string& session) {
  return std::make_unique<NatsCoordinator>(broker, session);
}

} // namespace winnow::remote
