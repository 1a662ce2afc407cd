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

/// Why the library has just failed on this thread.
std::string reason_of(natsStatus status) {
  natsStatus last = NATS_OK;
  const char* detail = nats_GetLastError(&last);
  const std::string text = natsStatus_GetText(status);
  return detail == nullptr || last != status ? text : text + " (" + detail + ")";
}

void set_tls(natsOptions* options, const BrokerAddress& broker) {
  natsStatus status = natsOptions_SetSecure(options, true);
  const auto require = [&](const char* action) {
    if (status != NATS_OK) {
      throw BrokerRefused(std::string("cannot ") + action + ": " + reason_of(status),
                          "give PEM files; the key must belong to the certificate");
    }
  };
  require("use TLS");
  if (!broker.ca_file.empty()) {
    status = natsOptions_LoadCATrustedCertificates(options, broker.ca_file.c_str());
    require(("use the certificates of --broker-ca " + broker.ca_file).c_str());
  }
  if (!broker.certificate_file.empty()) {
    status = natsOptions_LoadCertificatesChain(options, broker.certificate_file.c_str(),
                                               broker.key_file.c_str());
    require(("use --broker-certificate " + broker.certificate_file + " with --broker-key " +
             broker.key_file)
                .c_str());
  }
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
  if (status != NATS_OK) {
    throw BrokerRefused("cannot use the broker's address " + broker.url + ": " + reason_of(status),
                        "write nats://HOST:4222 or tls://HOST:4222");
  }
  if (broker.url.starts_with("tls://")) {
    set_tls(raw, broker);
  }
  return options;
}

std::string remedy_without_answer(const std::string& url) {
  const std::string start = "start it: nats-server -c nats.conf";
  return url.starts_with("tls://")
             ? start + "; a broker that asks for a certificate closes the connection of a client "
                       "whose certificate is missing or not signed by its tls.ca_file: give "
                       "--broker-certificate and --broker-key"
             : start;
}

std::string remedy_without_tls(const std::string& url, natsStatus status) {
  if (status == NATS_SECURE_CONNECTION_WANTED) {
    return "the broker has no TLS: write nats://, or add tls to nats.conf (`winnow broker init "
           "--tls-certificate`)";
  }
  const std::string files =
      "give --broker-ca the certificate that signed the broker's, use the host's name as the "
      "broker's certificate has it, and give --broker-certificate and --broker-key if the broker "
      "asks for them";
  return url.starts_with("tls://") ? files : "write tls:// in the place of nats://, and " + files;
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
  natsOptions_SetClosedCB(options.get(), on_closed, this);
  const natsStatus status = natsConnection_Connect(&connection_, options.get());
  if (status == NATS_CONNECTION_AUTH_FAILED) {
    throw BrokerRefused("the broker " + url_ + " does not know the user '" + broker.user +
                            "', or the password is wrong",
                        "give the user's file with --broker-credentials (`winnow broker init` "
                        "writes one for each user)");
  }
  if (status == NATS_SSL_ERROR || status == NATS_SECURE_CONNECTION_WANTED ||
      status == NATS_SECURE_CONNECTION_REQUIRED) {
    throw BrokerRefused("no TLS with the broker " + url_ + ": " + reason_of(status),
                        remedy_without_tls(url_, status));
  }
  if (status != NATS_OK) {
    throw BrokerUnavailable("cannot connect to the broker " + url_ + ": " + reason_of(status),
                            remedy_without_answer(url_));
  }
  jsOptions context;
  jsOptions_Init(&context);
  context.Wait = kAnswerMs;
  require(natsConnection_JetStream(&context_, connection_, &context), "open JetStream");
}

NatsConnection::~NatsConnection() {
  jsCtx_Destroy(context_);
  natsConnection_Close(connection_);
  closed_.try_acquire_for(std::chrono::seconds(5)); // its thread may still be calling back
  subscriptions_.clear();
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

void NatsConnection::on_closed(natsConnection* /*connection*/, void* self) {
  static_cast<NatsConnection*>(self)->closed_.release();
}

natsSubscription* NatsConnection::keep(natsSubscription* subscription) {
  const std::lock_guard lock(mutex_);
  return subscriptions_.emplace_back(subscription).get();
}

natsSubscription* NatsConnection::subscribe(const std::string& subject) {
  natsSubscription* subscription = nullptr;
  require(natsConnection_SubscribeSync(&subscription, connection_, subject.c_str()),
          "subscribe to " + subject);
  return keep(subscription);
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

natsSubscription* NatsConnection::pull(const std::string& stream, const std::string& consumer,
                                       const std::string& subject) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream.c_str();
  options.Consumer = consumer.c_str();
  natsSubscription* subscription = nullptr;
  require(js_PullSubscribe(&subscription, context_, subject.c_str(), consumer.c_str(), nullptr,
                           &options, nullptr),
          "open the consumer '" + consumer + "' of the stream " + stream);
  return keep(subscription);
}

OwnedMessage NatsConnection::fetch(natsSubscription* subscription,
                                   std::chrono::milliseconds wait) const {
  // The library would keep the request for later, and the server would answer when nobody listens.
  require(is_connected() ? NATS_OK : NATS_CONNECTION_DISCONNECTED, "hand out messages");
  jsFetchRequest request;
  jsFetchRequest_Init(&request);
  request.Batch = 1;
  request.Expires = wait.count() * kNanoseconds;
  natsMsgList list{};
  const natsStatus status = natsSubscription_FetchRequest(&list, subscription, &request);
  OwnedMessage message(list.Count == 1 ? std::exchange(list.Msgs[0], nullptr) : nullptr);
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
