#include "remote/nats/nats_connection.h"
#include "remote/nats/nats_names.h"
#include "remote/nats/nats_transports.h"

#include <mutex>
#include <utility>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kFinishMs = 2'000;

class NatsWorker : public WorkerTransport {
public:
  NatsWorker(const BrokerAddress& broker, WorkerIdentity identity)
      : identity_(std::move(identity)), nats_(broker, identity_.name),
        cancelled_(nats_.subscribe("wcancel.*")) {}

  std::optional<std::string> pool_rules() override { return look_up(kPoolBucket, identity_.pool); }
  std::optional<std::string> task(const std::string& digest) override {
    return look_up(kTaskBucket, digest);
  }

  std::optional<DeliveredJob> fetch(milliseconds wait) override {
    if (identity_.trusted) {
      if (auto job = fetch_from(trusted_jobs_, true, milliseconds(0))) {
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
        result_subject(address.session) + "." + address.job + "." + identity_.name;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = message_id.c_str();
    nats_.require(js_Publish(nullptr, nats_.stream_context(), subject.c_str(), body.data(),
                             static_cast<int>(body.size()), &options, nullptr),
                  "store a result");
  }
  void finish(const DeliveredJob& job) override {
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = kFinishMs;
    nats_.require(natsMsg_AckSync(message_of(job), &options, nullptr), "finish a job");
  }
  void give_back(const DeliveredJob& job, milliseconds delay) override {
    const natsStatus status = delay.count() > 0
                                  ? natsMsg_NakWithDelay(message_of(job), delay.count(), nullptr)
                                  : natsMsg_Nak(message_of(job), nullptr);
    nats_.require(status, "take a job back");
  }
  void drop(const DeliveredJob& job) override {
    nats_.require(natsMsg_Term(message_of(job), nullptr), "drop a job");
  }

  std::vector<Cancellation> cancelled() override {
    std::vector<Cancellation> heard;
    for (const OwnedMessage& message : nats_.waiting(cancelled_.get())) {
      heard.push_back(
          {tokens_of(natsMsg_GetSubject(message.get())).back(), body_of(message.get())});
    }
    return heard;
  }
  void heartbeat(const std::string& body) override {
    nats_.publish("wworker." + identity_.name, body);
  }
  bool is_connected() const override { return nats_.is_connected(); }
  std::size_t max_message_bytes() const override { return nats_.max_message_bytes(); }

private:
  static natsMsg* message_of(const DeliveredJob& job) {
    return static_cast<natsMsg*>(job.receipt.get());
  }

  std::optional<std::string> look_up(const char* bucket, const std::string& key) {
    const OwnedStore store = nats_.open_store(bucket);
    return store ? nats_.look_up(store.get(), key) : std::nullopt;
  }

  std::optional<DeliveredJob> fetch_from(OwnedSubscription& from, bool trusted, milliseconds wait) {
    if (!from) {
      from = nats_.pull(stream_of(trusted), identity_.pool,
                        pool_subject(identity_.pool, trusted) + ".>");
    }
    std::vector<OwnedMessage> messages;
    try {
      messages = nats_.fetch(from.get(), 1, wait);
    } catch (const BrokerUnavailable&) {
      from.reset(); // its consumer may be another one now
      throw;
    }
    if (messages.empty()) {
      return std::nullopt;
    }
    return delivered(std::move(messages.front()), trusted);
  }

  static std::optional<DeliveredJob> delivered(OwnedMessage message, bool trusted) {
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
    job.receipt = Receipt(message.release(), natsMsg_Destroy);
    return job;
  }

  WorkerIdentity identity_;
  NatsConnection nats_;
  OwnedSubscription cancelled_;
  OwnedSubscription jobs_, trusted_jobs_; ///< used by the one thread that fetches
};

} // namespace

std::unique_ptr<WorkerTransport> nats_worker(const BrokerAddress& broker,
                                             const WorkerIdentity& identity) {
  return std::make_unique<NatsWorker>(broker, identity);
}

} // namespace winnow::remote
