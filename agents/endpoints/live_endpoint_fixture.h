#pragma once

#include "agents/endpoints/endpoint_factory.h"
#include "agents/model/endpoint_config.h"
#include "agents/model/model_endpoint.h"
#include "tests/fake_endpoint/fake_endpoint.h"

#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace winnow::agents {

inline const std::string kTestKey = "sk-secret-0123456789";
inline const std::vector<std::string> kFormats{"chat", "responses", "anthropic", "gemini"};

/// Short waits, and a limit on answers that an unoptimised test build reaches quickly.
inline EndpointConfig config_for(const std::string& base_url, const std::string& kind = "chat") {
  setenv("WINNOW_TEST_KEY", kTestKey.c_str(), 1);
  EndpointConfig config;
  config.kind = kind;
  config.base_url = base_url;
  config.model = "some-model";
  config.api_key_env = "WINNOW_TEST_KEY";
  config.retry_base_seconds = 0.001;
  config.timeout_seconds = 20;
  config.max_answer_bytes = 4U << 20U;
  config.outage_seconds = 0.001; // do not wait for an endpoint that is down
  return config;
}
inline EndpointConfig config_for(const tests::FakeEndpoint& server,
                                 const std::string& kind = "chat") {
  // The base URLs of providers with these formats end in a version.
  const bool versioned = kind == "chat" || kind == "responses";
  return config_for(versioned ? server.base_url() : server.origin(), kind);
}

inline std::future<ModelReply> start(ModelEndpoint& endpoint, const std::string& key) {
  auto promise = std::make_shared<std::promise<ModelReply>>();
  ModelRequest request;
  request.key = key;
  request.messages = {{"user", "hello"}};
  endpoint.start(std::move(request), [promise](ModelReply reply) { promise->set_value(reply); });
  return promise->get_future();
}

inline ModelReply ask(const EndpointConfig& config) {
  return start(*make_endpoint(config), "axpy/0/0").get();
}

/// The reply to a call of a server with this script, and the number of requests that the server
/// got.
struct Exchange {
  ModelReply reply;
  std::size_t requests = 0;
};
inline Exchange exchange(std::vector<tests::FakeReply> replies) {
  const tests::FakeEndpoint server(std::move(replies));
  const auto endpoint = make_endpoint(config_for(server));
  ModelReply reply = start(*endpoint, "axpy/0/0").get();
  return {reply, server.requests().size()};
}

} // namespace winnow::agents
