#include "remote/nats/nats_connection.h"

#include <algorithm>
#include <utility>

namespace winnow::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kConnectMs = 5'000;
constexpr std::int64_t kReconnectMs = 500;
constexpr std::int64_t kPingMs = 10'000; // a dead network is noticed after two of them
constexpr std::int64_t kAnswerMs = 5'000;
constexpr std::int64_t kNanoseconds = 1'000'000; // of a millisecond
/// A refusal explains a time-out for so long.
constexpr std::chrono::seconds kRefusalCounts{10};

using OwnedOptions = std::unique_ptr<natsOptions, Destroy<natsOptions_Destroy>>;

bool is_refusal(natsStatus status) {
  return status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED;
}

OwnedOptions options_of(const BrokerAddress& broker, const std::string& name) {
  natsOptions* raw = nullptr;
  if (natsOptions_Create(&raw) != NATS_OK) {
    throw BrokerUnavailable("the NATS client library cannot be initialised");
  }
  OwnedOptions options(raw);
  natsStatus status = natsOptions_SetURL(raw, broker.url.c_str());
  const auto set = [&](natsStatus next) { status = status == NATS_OK ? next : status; };
  if (!broker.user.empty()) {
    set(natsOptions_SetUserInfo(raw, broker.user.c_str(), broker.password.c_str()));
  }
  set(natsOptions_SetName(raw, name.c_str()));
  set(natsOptions_SetCustomInboxPrefix(raw, ("_INBOX_" + name).c_str()));
  set(natsOptions_SetTimeout(raw, kConnectMs));
  set(natsOptions_SetPingInterval(raw, kPingMs));
  set(natsOptions_SetMaxReconnect(raw, -1)); // for ever
  set(natsOptions_SetReconnectWait(raw, kReconnectMs));
  set(natsOptions_SetFailRequestsOnDisconnect(raw, true));
  if (broker.url.starts_with("tls://")) {
    set(natsOptions_SetSecure(raw, true));
    if (!broker.ca_file.empty()) {
      set(natsOptions_LoadCATrustedCertificates(raw, broker.ca_file.c_str()));
    }
  }
  if (status != NATS_OK) {
    throw BrokerRefused("cannot use the broker's address " + broker.url + ": " +
                            natsStatus_GetText(status),
                        "write nats://HOST:4222, or tls://HOST:4222 and a --broker-ca that exists");
  }
  return options;
}

} // namespace

std::string body_of(natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

std::vector<std::string> tokens_of(const char* subject) {
  std::vector<std::string> tokens(1);
  for (const char* at = subject; *at != '\0'; ++at) {
    if (*at == '.') {
      tokens.emplace_back();
    } else {
      tokens.back() += *at;
    }
  }
  return tokens;
}

NatsConnection::NatsConnection(const BrokerAddress& broker, const std::string& name)
    : url_(broker.url) {
  const OwnedOptions options = options_of(broker, name);
  natsOptions_SetErrorHandler(options.get(), on_error, this);
  natsOptions_SetReconnectedCB(options.get(), on_reconnected, this);
  const natsStatus status = natsConnection_Connect(&connection_, options.get());
  if (status == NATS_CONNECTION_AUTH_FAILED) {
    throw BrokerRefused("the broker " + url_ + " does not know the user '" + broker.user +
                            "', or the password is wrong",
                        "give the user's file with --broker-credentials (`winnow broker init` "
                        "writes one for each user)");
  }
  if (status != NATS_OK) {
    throw BrokerUnavailable("cannot connect to the broker " + url_ + ": " +
                                natsStatus_GetText(status),
                            "start it: nats-server -c nats.conf");
  }
  jsOptions context;
  jsOptions_Init(&context);
  context.Wait = kAnswerMs;
  require(natsConnection_JetStream(&context_, connection_, &context), "open JetStream");
}

NatsConnection::~NatsConnection() {
  jsCtx_Destroy(context_);
  natsConnection_Close(connection_);
  natsConnection_Destroy(connection_);
}

bool NatsConnection::is_connected() const {
  return natsConnection_Status(connection_) == NATS_CONN_STATUS_CONNECTED;
}

std::size_t NatsConnection::max_message_bytes() const {
  const std::int64_t bytes = natsConnection_GetMaxPayload(connection_);
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0));
}

void NatsConnection::require(natsStatus status, const std::string& action) const {
  if (status == NATS_OK) {
    return;
  }
  require_permitted();
  const std::string text =
      "the broker " + url_ + " failed to " + action + ": " + natsStatus_GetText(status);
  if (is_refusal(status)) {
    throw BrokerRefused(text);
  }
  if (status == NATS_NO_RESPONDERS) {
    throw BrokerUnavailable(text, "the broker needs JetStream (`winnow broker init` writes a "
                                  "configuration that has it), and the first coordinator makes "
                                  "the streams");
  }
  throw BrokerUnavailable(text);
}

void NatsConnection::require_permitted() const {
  const std::lock_guard lock(mutex_);
  if (natsConnection_IsClosed(connection_)) {
    throw BrokerRefused("the broker " + url_ + " has closed the connection for good: " +
                        (refusal_.empty() ? "it refuses the user" : refusal_));
  }
  if (!refusal_.empty() && Clock::now() - refused_at_ < kRefusalCounts) {
    throw BrokerRefused("the broker " + url_ + " refuses this user's request: " + refusal_,
                        "use the user that `winnow broker init` made for this worker and pool");
  }
}

void NatsConnection::keep_refusal(natsStatus status, const char* text) {
  if (is_refusal(status)) {
    const std::lock_guard lock(mutex_);
    refusal_ = text == nullptr ? natsStatus_GetText(status) : text;
    refused_at_ = Clock::now();
  }
}

void NatsConnection::on_error(natsConnection* connection, natsSubscription* /*subscription*/,
                              natsStatus status, void* self) {
  const char* text = nullptr;
  natsConnection_GetLastError(connection, &text);
  static_cast<NatsConnection*>(self)->keep_refusal(status, text);
}

void NatsConnection::on_reconnected(natsConnection* /*connection*/, void* self) {
  ++static_cast<NatsConnection*>(self)->reconnections_;
}

OwnedSubscription NatsConnection::subscribe(const std::string& subject) const {
  natsSubscription* subscription = nullptr;
  require(natsConnection_SubscribeSync(&subscription, connection_, subject.c_str()),
          "subscribe to " + subject);
  return OwnedSubscription(subscription);
}

std::vector<OwnedMessage> NatsConnection::waiting(natsSubscription* subscription) const {
  std::uint64_t count = 0;
  require(natsSubscription_QueuedMsgs(subscription, &count), "count messages");
  std::vector<OwnedMessage> messages;
  for (; count > 0; --count) {
    natsMsg* message = nullptr;
    if (natsSubscription_NextMsg(&message, subscription, 1) != NATS_OK) {
      break;
    }
    messages.emplace_back(message);
  }
  return messages;
}

void NatsConnection::publish(const std::string& subject, const std::string& body) const {
  require(is_connected() ? NATS_OK : NATS_CONNECTION_DISCONNECTED, "pass a message on");
  require(natsConnection_Publish(connection_, subject.c_str(), body.data(),
                                 static_cast<int>(body.size())),
          "send to " + subject);
}

OwnedSubscription NatsConnection::pull(const std::string& stream, const std::string& consumer,
                                       const std::string& subject) const {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream.c_str();
  options.Consumer = consumer.c_str();
  natsSubscription* subscription = nullptr;
  require(js_PullSubscribe(&subscription, context_, subject.c_str(), consumer.c_str(), nullptr,
                           &options, nullptr),
          "open the consumer '" + consumer + "' of the stream " + stream);
  return OwnedSubscription(subscription);
}

/// One by one: a request for several messages lets libnats 3.4.1 write behind the end of its list
/// if some of them have come late, after the end of an earlier request.
std::vector<OwnedMessage> NatsConnection::fetch(natsSubscription* subscription, int most,
                                                std::chrono::milliseconds wait) const {
  std::vector<OwnedMessage> messages;
  for (int i = 0; i < most; ++i) {
    try {
      OwnedMessage message = fetch_one(subscription, wait);
      if (!message) {
        break;
      }
      messages.push_back(std::move(message));
    } catch (const BrokerUnavailable&) {
      if (messages.empty()) {
        throw;
      }
      break;
    }
  }
  return messages;
}

/// nullptr: none has come.
OwnedMessage NatsConnection::fetch_one(natsSubscription* subscription,
                                       std::chrono::milliseconds wait) const {
  // The library would keep the request for later, and the server would answer when nobody listens.
  require(is_connected() ? NATS_OK : NATS_CONNECTION_DISCONNECTED, "hand out messages");
  jsFetchRequest request;
  jsFetchRequest_Init(&request);
  request.Batch = 1;
  request.Expires = wait.count() * kNanoseconds;
  natsMsgList list{};
  const natsStatus status = natsSubscription_FetchRequest(&list, subscription, &request);
  OwnedMessage message(list.Count > 0 ? std::exchange(list.Msgs[0], nullptr) : nullptr);
  natsMsgList_Destroy(&list);
  if (status == NATS_TIMEOUT || status == NATS_NOT_FOUND) { // there was none
    require_permitted();
  } else if (!message) {
    require(status, "hand out messages");
  }
  return message;
}

OwnedStore NatsConnection::open_store(const std::string& bucket) const {
  kvStore* store = nullptr;
  const natsStatus status = js_KeyValue(&store, context_, bucket.c_str());
  if (status != NATS_NOT_FOUND) {
    require(status, "open the store '" + bucket + "'");
  }
  return OwnedStore(store);
}

std::optional<std::string> NatsConnection::look_up(kvStore* store, const std::string& key) const {
  kvEntry* entry = nullptr;
  const natsStatus status = kvStore_Get(&entry, store, key.c_str());
  if (status == NATS_NOT_FOUND) {
    return std::nullopt;
  }
  require(status, "look up " + key);
  std::string value(static_cast<const char*>(kvEntry_Value(entry)),
                    static_cast<std::size_t>(kvEntry_ValueLen(entry)));
  kvEntry_Destroy(entry);
  return value;
}

} // namespace winnow::remote
