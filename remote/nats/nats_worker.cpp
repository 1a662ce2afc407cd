#include "remote/nats/nats_connection.h"
#include "remote/nats/nats_names.h"

#include <mutex>
#include <utility>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;

// Trusted jobs are few, and a look for one takes time.
constexpr milliseconds kTrustedEvery{1'000};
constexpr milliseconds kTrustedWait{20};

/// A job as the server delivered it.
struct Delivery {
  OwnedMessage message;
  std::uint64_t reconnections = 0; ///< before it
};

class NatsWorker : public WorkerTransport {
public:
  NatsWorker(const BrokerAddress& broker, WorkerIdentity identity)
      : identity_(std::move(identity)), nats_(broker, identity_.name),
        cancelled_(nats_.subscribe(cancel_subject(identity_.pool, "*"))),
        asked_(nats_.subscribe("wask")) {}

  std::optional<std::string> pool_rules() override { return look_up(kRulesKey); }
  std::optional<std::string> task(const std::string& digest) override { return look_up(digest); }

  std::optional<DeliveredJob> fetch(milliseconds wait) override {
    const auto now = std::chrono::steady_clock::now();
    if (identity_.trusted && now - peeked_ > kTrustedEvery) {
      peeked_ = now;
      if (auto job = fetch_from(trusted_jobs_, true, kTrustedWait)) {
        return job;
      }
    }
    return fetch_from(jobs_, false, wait);
  }

  void extend(const DeliveredJob& job) override {
    nats_.require(natsMsg_InProgress(message_of(job), nullptr), "extend a job");
  }
  void publish_result(const JobAddress& address, const std::string& message_id,
                      const std::string& body) override {
    const std::string subject =
        result_subject(identity_.pool, address.session) + "." + address.job + "." + identity_.name;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = message_id.c_str();
    nats_.require(js_Publish(nullptr, nats_.stream_context(), subject.c_str(), body.data(),
                             static_cast<int>(body.size()), &options, nullptr),
                  "store a result");
  }
  void finish(const DeliveredJob& job) override {
    if (is_old(job)) {
      return; // the coordinator withdraws the job when the result arrives
    }
    // Without waiting for the server: if the message is lost, the coordinator withdraws the job.
    nats_.require(natsMsg_Ack(message_of(job), nullptr), "finish a job");
  }
  void give_back(const DeliveredJob& job, milliseconds delay) override {
    if (is_old(job)) {
      return; // its lease ends
    }
    const natsStatus status = delay.count() > 0
                                  ? natsMsg_NakWithDelay(message_of(job), delay.count(), nullptr)
                                  : natsMsg_Nak(message_of(job), nullptr);
    nats_.require(status, "take a job back");
  }
  void drop(const DeliveredJob& job) override {
    nats_.require(is_old(job) ? NATS_OK : natsMsg_Term(message_of(job), nullptr), "drop a job");
  }

  std::vector<Cancellation> cancelled() override {
    std::vector<Cancellation> heard;
    for (const OwnedMessage& message : nats_.waiting(cancelled_)) {
      heard.push_back(
          {tokens_of(natsMsg_GetSubject(message.get())).back(), body_of(message.get())});
    }
    return heard;
  }
  bool is_asked() override { return !nats_.waiting(asked_).empty(); }
  void heartbeat(const std::string& body) override {
    nats_.publish(heartbeat_subject(identity_.pool, identity_.name), body);
  }
  bool is_connected() const override { return nats_.is_connected(); }
  std::size_t max_message_bytes() const override { return nats_.max_message_bytes(); }

private:
  static natsMsg* message_of(const DeliveredJob& job) {
    return std::static_pointer_cast<Delivery>(job.receipt)->message.get();
  }
  /// A server that came back empty numbers its messages from 1 again: an answer to an old delivery
  /// would remove another job.
  bool is_old(const DeliveredJob& job) const {
    return std::static_pointer_cast<Delivery>(job.receipt)->reconnections != nats_.reconnections();
  }

  std::optional<std::string> look_up(const std::string& key) {
    const OwnedStore store = nats_.open_store(store_of(identity_.pool));
    return store ? nats_.look_up(store.get(), key) : std::nullopt;
  }

  std::optional<DeliveredJob> fetch_from(natsSubscription*& from, bool trusted, milliseconds wait) {
    if (from == nullptr) {
      from = nats_.pull(stream_of(trusted), identity_.pool,
                        pool_subject(identity_.pool, trusted) + ".>");
    }
    OwnedMessage message;
    try {
      message = nats_.fetch(from, wait);
    } catch (const BrokerUnavailable&) {
      NatsConnection::end(std::exchange(from, nullptr)); // its consumer may be another one now
      throw;
    }
    return message ? delivered(std::move(message), trusted) : std::nullopt;
  }

  std::optional<DeliveredJob> delivered(OwnedMessage message, bool trusted) const {
    const auto tokens = tokens_of(natsMsg_GetSubject(message.get())); // wjob.POOL.SESSION.JOB
    if (tokens.size() != 4) {
      natsMsg_Term(message.get(), nullptr);
      return std::nullopt;
    }
    DeliveredJob job;
    job.address = {tokens[1], trusted, tokens[2], tokens[3]};
    job.body = body_of(message.get());
    jsMsgMetaData* facts = nullptr;
    if (natsMsg_GetMetaData(&facts, message.get()) == NATS_OK) {
      job.delivery = static_cast<int>(facts->NumDelivered);
      jsMsgMetaData_Destroy(facts);
    }
    job.receipt = std::make_shared<Delivery>(Delivery{std::move(message), nats_.reconnections()});
    return job;
  }

  WorkerIdentity identity_;
  NatsConnection nats_;
  natsSubscription *cancelled_, *asked_;
  // Used by the one thread that fetches.
  natsSubscription *jobs_ = nullptr, *trusted_jobs_ = nullptr;
  std::chrono::steady_clock::time_point peeked_;
};

} // namespace

std::unique_ptr<WorkerTransport> nats_worker(const BrokerAddress& broker,
                                             const WorkerIdentity& identity) {
  return std::make_unique<NatsWorker>(broker, identity);
}

} // namespace winnow::remote
