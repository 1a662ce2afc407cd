#pragma once

#include "agents/endpoint_config.h"
#include "agents/http/http_client.h"
#include "agents/http/retry.h"
#include "agents/wire/chat_completions.h"

#include <random>
#include <string>

namespace winnow::agents {

/// OpenAI chat completions at any base URL. The key lives here and in the Authorization header of
/// requests to that URL, nowhere else; an endpoint that echoes it has it cut out of what it says.
class OpenAiEndpoint final : public ModelEndpoint {
public:
  /// Throws UsageError for a URL, key or number that cannot work.
  explicit OpenAiEndpoint(const EndpointConfig& config);

  std::string_view kind() const override { return "openai"; }
  void start(ModelRequest request, std::function<void(ModelReply)> done) override;
  void cancel_all() override;

private:
  struct Outcome {
    ModelReply reply;
    std::optional<std::chrono::milliseconds> retry_after;
  };
  Outcome judge(const HttpResult& result, const std::string& model);
  Outcome judge_answer(const HttpResult& result, const std::string& model);
  Outcome refused(const HttpResult& result, const ProviderError& error, const std::string& model);
  Outcome failed(const FailedAttempt& attempt, const std::string& what);
  std::optional<double> price(const ModelReply& reply, bool usage_known) const;
  std::string hint(long status, const std::string& model) const;
  void redact(std::string& text) const;

  EndpointConfig config_;
  std::string url_;
  std::string shown_url_; ///< host and path, for messages
  bool openai_itself_ = false;
  std::string key_; ///< empty: none is sent
  RetryPolicy policy_;
  std::mt19937_64 random_; ///< the client's thread only
  HttpClient client_;      ///< last: its thread uses everything above
};

/// Whether the configuration could work, without calling anyone.
Availability probe_openai(const EndpointConfig& config);

} // namespace winnow::agents
