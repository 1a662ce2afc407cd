#pragma once

#include "base/error.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::remote {

/// The broker does not answer, or lacks what a call needs. The call may succeed later.
class BrokerUnavailable : public Error {
public:
  using Error::Error;
};

/// The broker refuses the user or the action. The same call fails again.
class BrokerRefused : public Error {
public:
  using Error::Error;
};

/// How often the broker hands out a job before the job is dead. A worker that dies and a worker
/// that gives the job back count alike.
inline constexpr int kMostDeliveries = 5;
/// The broker hands a job out again if its worker has neither finished nor extended it for so long.
inline constexpr std::chrono::seconds kLease{30};

/// Where a job belongs. Each text consists of letters, digits, '-' and '_'.
struct JobAddress {
  std::string pool;     ///< of the workers that may have the job
  bool trusted = false; ///< only workers that may know the held-out shapes have it
  std::string session;  ///< of the coordinator that gets the result
  std::string job;      ///< unique in the session; nobody can guess it

  bool operator==(const JobAddress&) const = default;
};

/// Queued: also a job that the broker no longer has. Stranded: as far as the broker tells, it will
/// never hand the job out. A broker that was killed may know that a worker has finished a job, and
/// have the job all the same. Some jobs that a worker has seem stranded, too, if another job is.
enum class JobPlace : std::uint8_t { Queued, HandedOut, Stranded };

/// What the transport needs to know again about a message that it handed out.
using Receipt = std::shared_ptr<void>;

struct DeliveredJob {
  JobAddress address;
  std::string body;
  int delivery = 1; ///< 2: the second time that a worker gets the job
  Receipt receipt;
};

struct ArrivedResult {
  std::string job;
  std::string worker; ///< its name, which the broker has checked
  std::string body;
  Receipt receipt;
};

/// A message that a worker sends about itself.
struct WorkerMessage {
  std::string pool; ///< of the worker, and its name: the broker has checked both
  std::string worker;
  std::string body;
};

struct Cancellation {
  std::string session;
  std::string job; ///< empty: all jobs of the session
};

/// A coordinator's connection to the broker, for one session. The broker stores jobs until somebody
/// finishes or withdraws them, and results until somebody acknowledges them. Any thread may call
/// it. Every function throws BrokerUnavailable and BrokerRefused.
class CoordinatorTransport {
public:
  virtual ~CoordinatorTransport() = default;
  /// Creates what the broker lacks for this pool and session. put_task() and cancel() are then for
  /// this pool.
  virtual void prepare(const std::string& pool) = 0;
  /// The text of set_pool_rules(); nullopt: nobody has set rules for this pool.
  virtual std::optional<std::string> pool_rules(const std::string& pool) = 0;
  virtual void set_pool_rules(const std::string& pool, const std::string& rules) = 0;
  /// Keeps a text for workers to look up by its digest. Does nothing if the broker has it.
  virtual void put_task(const std::string& digest, const std::string& text) = 0;
  /// Queues a job. False: a job of this address is queued or at work already.
  virtual bool publish(const JobAddress& address, const std::string& body) = 0;
  /// Where a job is that the broker has.
  virtual JobPlace place_of(const JobAddress& address) = 0;
  /// Removes the job, also from the worker that has it. Does nothing if there is no such job.
  virtual void withdraw(const JobAddress& address) = 0;
  /// As withdraw() for each of these jobs of this session. Costs one look at the broker if it has
  /// none of them any more.
  virtual void withdraw_all(const std::vector<JobAddress>& addresses) = 0;
  /// Removes the results of this session, and what prepare() made for it.
  virtual void end_session() = 0;
  /// Tells the workers that nobody waits for the job any more. `job` empty: for all of the session.
  virtual void cancel(const std::string& job) = 0;
  /// The results that have arrived. Waits up to `wait` for the first one. A result comes again
  /// after a minute until it is acknowledged.
  virtual std::vector<ArrivedResult> results(std::chrono::milliseconds wait) = 0;
  /// Whether results wait at the broker that results() has not handed out yet.
  virtual bool has_results() = 0;
  virtual void acknowledge(const ArrivedResult& result) = 0;
  /// Removes the results of this worker that the broker has for this session.
  virtual void drop_results(const std::string& worker) = 0;
  /// Jobs of this session that no worker finished in kMostDeliveries. Each comes once.
  virtual std::vector<JobAddress> dead_jobs() = 0;
  /// Asks all workers for a heartbeat now.
  virtual void ask_workers() = 0;
  /// What workers have sent since the last call.
  virtual std::vector<WorkerMessage> heartbeats() = 0;
  /// How often the connection was lost and made again. The broker may then have lost everything.
  virtual std::uint64_t reconnections() const = 0;
  virtual bool is_connected() const = 0;
  virtual std::size_t max_message_bytes() const = 0;
};

/// A worker's connection to the broker. Any thread may call it. Every function throws
/// BrokerUnavailable and BrokerRefused.
class WorkerTransport {
public:
  virtual ~WorkerTransport() = default;
  /// nullopt: nobody has set rules for this worker's pool.
  virtual std::optional<std::string> pool_rules() = 0;
  /// nullopt: the broker has no task of this digest.
  virtual std::optional<std::string> task(const std::string& digest) = 0;
  /// The next job that this worker may have. Waits up to `wait` for it. nullopt: there was none.
  virtual std::optional<DeliveredJob> fetch(std::chrono::milliseconds wait) = 0;
  /// Begins the lease of the job anew.
  virtual void extend(const DeliveredJob& job) = 0;
  /// Stores the result. Of several results with one `message_id` within an hour the broker keeps
  /// the first.
  virtual void publish_result(const JobAddress& address, const std::string& message_id,
                              const std::string& body) = 0;
  /// Removes the job. Call it after publish_result().
  virtual void finish(const DeliveredJob& job) = 0;
  /// Another worker, or this one, gets the job after `delay`.
  virtual void give_back(const DeliveredJob& job, std::chrono::milliseconds delay) = 0;
  /// Removes the job without a result, because nobody waits for the result.
  virtual void drop(const DeliveredJob& job) = 0;
  /// What coordinators have cancelled since the last call.
  virtual std::vector<Cancellation> cancelled() = 0;
  /// Whether a coordinator has asked for a heartbeat since the last call.
  virtual bool is_asked() = 0;
  /// Sends a message about this worker to the coordinators that listen now.
  virtual void heartbeat(const std::string& body) = 0;
  virtual bool is_connected() const = 0;
  virtual std::size_t max_message_bytes() const = 0;
};

/// How to reach and enter a broker.
struct BrokerAddress {
  std::string url; ///< "nats://host:4222" or "tls://host:4222"
  std::string user, password;
  std::string ca_file; ///< PEM certificates that tls:// trusts; empty: those of the system
  /// PEM: the certificate by which a tls:// broker knows this client, and its private key; empty:
  /// the client shows none.
  std::string certificate_file, key_file;
};

struct WorkerIdentity {
  std::string name; ///< also the name of the broker's user
  std::string pool;
  bool trusted = false;
};

/// Connects to brokers. The functions throw BrokerUnavailable and BrokerRefused.
class TransportFactory {
public:
  virtual ~TransportFactory() = default;
  virtual std::unique_ptr<CoordinatorTransport> coordinator(const BrokerAddress& broker,
                                                            const std::string& session) = 0;
  virtual std::unique_ptr<WorkerTransport> worker(const BrokerAddress& broker,
                                                  const WorkerIdentity& identity) = 0;
};

} // namespace winnow::remote
