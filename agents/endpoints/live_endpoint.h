#pragma once

#include "agents/http/http_client.h"
#include "agents/http/retry.h"
#include "agents/keys/key_source.h"
#include "agents/model/endpoint_config.h"
#include "agents/wire/wire_format.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>

namespace winnow::agents {

/// A provider or server that speaks one of the wire formats. Only this object and the header of
/// requests to its base URL contain the key. If an endpoint repeats the key in an answer or error,
/// the key is cut out (base/secrets.h).
class LiveEndpoint final : public ModelEndpoint {
public:
  /// Throws UsageError for a URL, key or number that cannot work. Several endpoints may share a
  /// client.
  LiveEndpoint(const EndpointConfig& config, std::shared_ptr<HttpClient> client);
  ~LiveEndpoint() override; ///< cancels all open calls and waits until they have ended
  LiveEndpoint(const LiveEndpoint&) = delete; // the client's callbacks point into this object
  LiveEndpoint& operator=(const LiveEndpoint&) = delete;

  std::string_view kind() const override { return format_.name(); }
  void start(ModelRequest request, std::function<void(ModelReply)> done) override;
  void cancel_all() override;
  EndpointHealth health() const override;

private:
  struct Call;
  using Delay = std::optional<std::chrono::milliseconds>;

  void post(const std::shared_ptr<Call>& call);
  Delay handle(Call& call, HttpResult result);
  Delay handle_end(Call& call, HttpResult result, WireAnswer partial);
  Delay handle_answer(Call& call, const HttpResult& result);
  Delay handle_reply(Call& call, const HttpResult& result, WireAnswer answer);
  Delay refused(Call& call, const HttpResult& result, const ProviderError& error);
  Delay failed(Call& call, FailedAttempt attempt, std::string what);
  bool repair(Call& call, const ModelReply& reply);
  bool leave_out(Call& call, const ProviderError& error);
  WireOptions options() const;
  void finish(Call& call, ModelReply reply);
  std::string hint(long status, const std::string& model) const;

  EndpointConfig config_;
  const WireFormat& format_;
  WireOptions options_;
  std::string base_url_;
  std::string shown_url_; ///< host and path, for messages
  Key key_;
  std::optional<Price> price_;
  RetryPolicy policy_;
  std::mt19937_64 random_; ///< used on the client's thread only
  Gate gate_;
  std::shared_ptr<HttpClient> client_;
  HttpClient::LaneId lane_ = 0;
  mutable std::mutex mutex_; ///< guards open_calls_ and options_.learned
  std::condition_variable ended_;
  std::size_t open_calls_ = 0; ///< guarded by mutex_
};

} // namespace winnow::agents
