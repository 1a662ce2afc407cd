#pragma once

#include "remote/job_transport.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include <nats/nats.h>

namespace winnow::remote {

// Owners of objects of the client library.
template <auto destroy> struct Destroy {
  template <typename T> void operator()(T* object) const { destroy(object); }
};
using OwnedMessage = std::unique_ptr<natsMsg, Destroy<natsMsg_Destroy>>;
using OwnedStore = std::unique_ptr<kvStore, Destroy<kvStore_Destroy>>;

/// The text of a message's body.
std::string body_of(natsMsg* message);
/// The parts of a subject between the dots.
std::vector<std::string> tokens_of(const char* subject);

/// A connection to a NATS server with JetStream. It makes itself again when it breaks. Any thread.
class NatsConnection {
public:
  /// `name`: for the server's lists of clients, and of the private subjects that answers come to.
  /// Throws BrokerUnavailable, BrokerRefused.
  NatsConnection(const BrokerAddress& broker, const std::string& name);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete; // callbacks refer to it
  NatsConnection& operator=(const NatsConnection&) = delete;

  natsConnection* get() const { return connection_; }
  jsCtx* stream_context() const { return context_; }
  std::uint64_t reconnections() const { return reconnections_; }
  bool is_connected() const;
  std::size_t max_message_bytes() const;

  /// Throws if `status` is not NATS_OK. `action`: what failed, for people.
  void require(natsStatus status, const std::string& action) const;
  /// Throws BrokerRefused if the server has lately refused a subject, or the connection for good.
  /// The server answers a forbidden request with nothing, so that the request ends by time-out.
  void require_permitted() const;

  /// The connection owns its subscriptions, and destroys them after it is closed: libnats 3.4 and
  /// 3.5 crash if a subscription is destroyed while a message for it arrives
  /// (https://github.com/nats-io/nats.c/issues/637).
  natsSubscription* subscribe(const std::string& subject);
  /// The messages that have arrived; does not wait.
  std::vector<OwnedMessage> waiting(natsSubscription* subscription) const;
  void publish(const std::string& subject, const std::string& body) const;
  /// A subscription to a consumer of a stream, which exists.
  natsSubscription* pull(const std::string& stream, const std::string& consumer,
                         const std::string& subject);
  /// No more messages come for this subscription. It may be nullptr.
  static void end(natsSubscription* subscription) { natsSubscription_Unsubscribe(subscription); }
  /// The next message of a consumer. Waits up to `wait` for it. nullptr: there was none. One at a
  /// time, because libnats 3.4.1 writes behind its array if a part of several messages is there
  /// when it asks for the rest.
  OwnedMessage fetch(natsSubscription* subscription, std::chrono::milliseconds wait) const;
  /// nullptr: there is no store of this name.
  OwnedStore open_store(const std::string& bucket) const;
  /// nullopt: the store has no such key.
  std::optional<std::string> look_up(kvStore* store, const std::string& key) const;

private:
  using OwnedSubscription = std::unique_ptr<natsSubscription, Destroy<natsSubscription_Destroy>>;

  natsSubscription* keep(natsSubscription* subscription);
  void keep_refusal(natsStatus status, const char* text);
  static void on_error(natsConnection* connection, natsSubscription* subscription,
                       natsStatus status, void* self);
  static void on_reconnected(natsConnection* connection, void* self);
  static void on_closed(natsConnection* connection, void* self);

  std::string url_;
  natsConnection* connection_ = nullptr;
  jsCtx* context_ = nullptr;
  std::atomic<std::uint64_t> reconnections_{0};
  std::binary_semaphore closed_{0}; ///< no callback comes any more
  mutable std::mutex mutex_;        ///< guards the members below
  std::vector<OwnedSubscription> subscriptions_;
  std::string refusal_;
  std::chrono::steady_clock::time_point refused_at_;
};

} // namespace winnow::remote
