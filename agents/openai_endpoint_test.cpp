#include "agents/endpoint_config.h"
#include "base/error.h"
#include "base/files.h"
#include "tests/fake_endpoint/fake_endpoint.h"

#include <cstdlib>
#include <fstream>
#include <future>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::chat_reply;
using tests::error_reply;
using tests::FakeEndpoint;
using tests::FakeReply;
using tests::Fault;
using tests::raw_reply;
using tests::SeenRequest;
using tests::with_fault;
using tests::with_header;

const std::string kKey = "sk-secret-0123456789";

EndpointConfig config_for(const std::string& base_url) {
  setenv("WINNOW_TEST_KEY", kKey.c_str(), 1);
  EndpointConfig config;
  config.kind = "openai";
  config.base_url = base_url;
  config.model = "some-model";
  config.api_key_env = "WINNOW_TEST_KEY";
  config.retry_base_seconds = 0.001;
  config.timeout_seconds = 20;
  return config;
}

std::future<ModelReply> start(ModelEndpoint& endpoint, const std::string& key) {
  auto promise = std::make_shared<std::promise<ModelReply>>();
  ModelRequest request;
  request.key = key;
  request.messages = {{"user", "hello"}};
  endpoint.start(std::move(request), [promise](ModelReply reply) { promise->set_value(reply); });
  return promise->get_future();
}

ModelReply ask(const EndpointConfig& config) {
  return start(*make_endpoint(config), "axpy/0/0").get();
}

/// What a call gets from a server with this script, and how many requests that took.
struct Exchange {
  ModelReply reply;
  std::size_t requests = 0;
};
Exchange exchange(std::vector<FakeReply> replies) {
  const FakeEndpoint server(std::move(replies));
  const auto endpoint = make_endpoint(config_for(server.base_url()));
  ModelReply reply = start(*endpoint, "axpy/0/0").get();
  return {reply, server.requests().size()};
}

TEST(OpenAiEndpoint, AsksAndPrices) {
  const FakeEndpoint server({chat_reply("```cuda\n```", "length")});
  EndpointConfig config = config_for(server.base_url() + "/");
  config.dollars_per_million_input = 2;
  config.dollars_per_million_output = 8;
  config.max_output_tokens = 100;
  const ModelReply reply = ask(config);
  EXPECT_EQ(reply.status, ModelReply::Status::Ok) << reply.error;
  EXPECT_EQ(reply.text, "```cuda\n```");
  EXPECT_EQ(reply.finish_reason, "length");
  EXPECT_EQ(reply.model, "fake-model");
  EXPECT_EQ(reply.usage.cached_tokens, 4);
  EXPECT_DOUBLE_EQ(reply.dollars.value(), (10 * 2 + 5 * 8) / 1e6);
  EXPECT_EQ(reply.attempts, 1);
  ASSERT_EQ(server.requests().size(), 1U);
  const SeenRequest request = server.requests().front();
  EXPECT_EQ(request.path, "/v1/chat/completions");
  EXPECT_EQ(request.header("authorization"), "Bearer " + kKey);
  const auto body = nlohmann::json::parse(request.body);
  EXPECT_EQ(body["model"], "some-model");
  EXPECT_EQ(body["user"], "axpy/0/0");
  EXPECT_EQ(body["max_tokens"], 100);
}

TEST(OpenAiEndpoint, DoesNotGuessAPrice) {
  const FakeEndpoint server({chat_reply("x")});
  EXPECT_FALSE(ask(config_for(server.base_url())).dollars);
}

TEST(OpenAiEndpoint, RetriesWhatMayPass) {
  for (const int status : {408, 409, 429, 500, 503, 529}) {
    const Exchange done = exchange({error_reply(status, "later"), chat_reply("x")});
    EXPECT_EQ(done.reply.status, ModelReply::Status::Ok) << status << ": " << done.reply.error;
    EXPECT_EQ(done.reply.attempts, 2) << status;
  }
}

TEST(OpenAiEndpoint, HonoursEveryFormOfRetryAfter) {
  for (const auto& [name, value] :
       {std::pair("retry-after-ms", "1"), std::pair("retry-after", "0.001"),
        std::pair("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")}) {
    const Exchange done =
        exchange({with_header(error_reply(429, "slow down"), name, value), chat_reply("x")});
    EXPECT_EQ(done.reply.status, ModelReply::Status::Ok) << name << ": " << done.reply.error;
    EXPECT_EQ(done.requests, 2U);
  }
  const Exchange hours =
      exchange({with_header(error_reply(429, "slow down"), "retry-after", "7200")});
  EXPECT_EQ(hours.requests, 1U);
  EXPECT_THAT(hours.reply.error, HasSubstr("it asks to wait 7200 s, which is too long"));
}

TEST(OpenAiEndpoint, RetriesBrokenConnections) {
  const Exchange cut =
      exchange({with_fault(chat_reply("x"), Fault::CloseMidBody), chat_reply("y")});
  EXPECT_EQ(cut.reply.text, "y") << cut.reply.error;
  EXPECT_EQ(cut.reply.attempts, 2);
}

TEST(OpenAiEndpoint, GivesUpAfterTheLastAttempt) {
  const Exchange done = exchange({error_reply(500, "boom")});
  EXPECT_EQ(done.reply.status, ModelReply::Status::Failed);
  EXPECT_EQ(done.requests, 4U);
  EXPECT_THAT(done.reply.error,
              HasSubstr("/v1/chat/completions: HTTP 500: boom (after 4 attempts)"));
}

TEST(OpenAiEndpoint, DoesNotRetryAWrongKeyOrModel) {
  const Exchange key = exchange({error_reply(401, "Incorrect API key provided: " + kKey)});
  EXPECT_EQ(key.requests, 1U);
  EXPECT_THAT(key.reply.error,
              HasSubstr("HTTP 401: Incorrect API key provided: [key]; check the key "
                        "in the environment variable WINNOW_TEST_KEY"));
  const Exchange model = exchange({error_reply(404, "no such model")});
  EXPECT_EQ(model.requests, 1U);
  EXPECT_THAT(model.reply.error, HasSubstr("check base_url and the model 'some-model'"));
}

TEST(OpenAiEndpoint, DoesNotRetryWithoutMoney) {
  const Exchange done =
      exchange({error_reply(429, "You exceeded your quota", "insufficient_quota")});
  EXPECT_EQ(done.requests, 1U);
  EXPECT_THAT(done.reply.error, HasSubstr("behind WINNOW_TEST_KEY has no money or quota left"));
}

TEST(OpenAiEndpoint, ObeysXShouldRetry) {
  EXPECT_EQ(exchange({with_header(error_reply(500, "x"), "x-should-retry", "false")}).requests, 1U);
}

TEST(OpenAiEndpoint, ExplainsAnswersThatAreNone) {
  const auto error = [](const FakeReply& reply) { return exchange({reply}).reply.error; };
  EXPECT_THAT(error(raw_reply(200, "<html>Welcome to nginx")),
              HasSubstr("the endpoint answered HTTP 200 with something that is not a JSON answer: "
                        "\"<html>Welcome to nginx\""));
  EXPECT_THAT(error(raw_reply(200, "")),
              HasSubstr("HTTP 200 with something that is not a JSON answer: an "
                        "empty body"));
  EXPECT_THAT(error(raw_reply(200, "\x01\xFF garbage")), HasSubstr("not a JSON answer"));
  EXPECT_THAT(error(raw_reply(200, std::string(100000, '['))), HasSubstr("nested more than 100"));
  EXPECT_THAT(error(raw_reply(200, "{\"choices\":[]}")), HasSubstr("an empty list"));
  EXPECT_THAT(error(raw_reply(403, "<html>Forbidden by proxy")), HasSubstr("Forbidden by proxy"));
  EXPECT_THAT(error(with_header(raw_reply(301, ""), "location", "https://elsewhere.example")),
              HasSubstr("redirects are not followed: correct base_url"));
}

TEST(OpenAiEndpoint, TreatsAnErrorInsideHttp200AsAnError) {
  const Exchange passing = exchange(
      {raw_reply(200, R"({"error":{"message":"upstream","code":502}})", "application/json"),
       chat_reply("x")});
  EXPECT_EQ(passing.reply.text, "x");
  const Exchange lasting =
      exchange({raw_reply(200, R"({"error":{"message":"bad","code":400}})", "application/json")});
  EXPECT_EQ(lasting.requests, 1U);
  EXPECT_THAT(lasting.reply.error, HasSubstr("HTTP 200: bad (error 400 inside it)"));
}

TEST(OpenAiEndpoint, RefusesAHugeBody) {
  const Exchange done =
      exchange({raw_reply(200, std::string(65U << 20U, ' '), "application/octet-stream")});
  EXPECT_EQ(done.requests, 1U);
  EXPECT_THAT(done.reply.error, HasSubstr("larger than 64 MiB"));
}

TEST(OpenAiEndpoint, TimesOut) {
  const FakeEndpoint server({with_fault(chat_reply(""), Fault::NeverAnswer)});
  EndpointConfig config = config_for(server.base_url());
  config.timeout_seconds = 0.05;
  config.max_attempts = 2;
  const ModelReply reply = ask(config);
  EXPECT_EQ(reply.status, ModelReply::Status::Failed);
  EXPECT_THAT(reply.error, HasSubstr("no answer: "));
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(OpenAiEndpoint, NoticesAStalledAnswer) {
  const FakeEndpoint server({with_fault(chat_reply("x"), Fault::StallMidBody)});
  EndpointConfig config = config_for(server.base_url());
  config.stall_seconds = 0.05;
  config.max_attempts = 1;
  EXPECT_THAT(ask(config).error, HasSubstr("the answer began but no byte came for 50 ms"));
}

TEST(OpenAiEndpoint, ReportsAPortWhereNobodyListens) {
  std::string url;
  {
    const FakeEndpoint gone({chat_reply("x")});
    url = gone.base_url();
  }
  EndpointConfig config = config_for(url);
  config.max_attempts = 2;
  const ModelReply reply = ask(config);
  EXPECT_EQ(reply.status, ModelReply::Status::Failed);
  EXPECT_THAT(reply.error, HasSubstr("/v1/chat/completions: no answer: "));
  EXPECT_THAT(reply.error, HasSubstr("(after 2 attempts)"));
}

TEST(OpenAiEndpoint, CancelsCallsInFlightWaitingAndBetweenAttempts) {
  const FakeEndpoint server([](const SeenRequest& request, std::size_t) {
    const bool retried = nlohmann::json::parse(request.body)["user"] == "retried";
    return retried ? with_header(error_reply(429, "wait"), "retry-after", "500")
                   : with_fault(chat_reply(""), Fault::NeverAnswer);
  });
  EndpointConfig config = config_for(server.base_url());
  config.parallel = 2;
  const auto endpoint = make_endpoint(config);
  std::vector<std::future<ModelReply>> replies;
  for (const char* key : {"retried", "a", "b", "c", "d"}) {
    replies.push_back(start(*endpoint, key));
  }
  while (server.requests().size() < 3) { // "retried" has made room for "b"
    std::this_thread::yield();
  }
  endpoint->cancel_all();
  for (auto& reply : replies) {
    EXPECT_EQ(reply.get().status, ModelReply::Status::Cancelled);
  }
}

TEST(OpenAiEndpoint, FinishesEveryCallWhenItGoes) {
  const FakeEndpoint server({with_fault(chat_reply(""), Fault::NeverAnswer)});
  std::vector<std::future<ModelReply>> replies;
  {
    const auto endpoint = make_endpoint(config_for(server.base_url()));
    for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
      replies.push_back(start(*endpoint, key));
    }
  }
  for (auto& reply : replies) {
    EXPECT_EQ(reply.get().status, ModelReply::Status::Cancelled);
  }
}

TEST(OpenAiEndpoint, LosesNothingUnderFaultsAndParallelCalls) {
  const FakeEndpoint server([](const SeenRequest& request, std::size_t number) {
    if (number % 5 == 4) {
      return number % 2 == 0 ? error_reply(500, "x")
                             : with_fault(chat_reply("x"), Fault::CloseMidBody);
    }
    return chat_reply(nlohmann::json::parse(request.body)["user"]);
  });
  EndpointConfig config = config_for(server.base_url());
  config.parallel = 16;
  config.max_attempts = 20;
  const auto endpoint = make_endpoint(config);
  std::vector<std::future<ModelReply>> replies;
  for (int i = 0; i < 200; ++i) {
    replies.push_back(start(*endpoint, std::to_string(i)));
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(replies[static_cast<std::size_t>(i)].get().text, std::to_string(i));
  }
}

TEST(OpenAiEndpoint, SendsTheKeyInOneHeaderOnly) {
  const FakeEndpoint server({error_reply(401, "no " + kKey), chat_reply("your key is " + kKey)});
  const auto endpoint = make_endpoint(config_for(server.base_url()));
  EXPECT_THAT(start(*endpoint, "a").get().error, Not(HasSubstr(kKey)));
  EXPECT_EQ(start(*endpoint, "b").get().text, "your key is [key]");
  for (const SeenRequest& request : server.requests()) {
    EXPECT_THAT(request.body + request.path, Not(HasSubstr(kKey)));
    for (const auto& [name, value] : request.headers) {
      EXPECT_EQ(value.find(kKey) != std::string::npos, name == "authorization") << name;
    }
  }
}

TEST(OpenAiEndpoint, ReachesThisMachineDespiteAProxy) {
  const FakeEndpoint server({chat_reply("x")});
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const ModelReply reply = ask(config_for(server.base_url()));
  unsetenv("http_proxy");
  EXPECT_EQ(reply.text, "x") << reply.error;
}

TEST(OpenAiEndpoint, NeedsNoKeyOnThisMachine) {
  const FakeEndpoint server({chat_reply("x")});
  EndpointConfig config = config_for(server.base_url());
  config.api_key_env = "WINNOW_TEST_NO_SUCH_KEY";
  EXPECT_EQ(ask(config).text, "x");
  EXPECT_EQ(server.requests().front().header("authorization"), "");
}

std::string refusal(const EndpointConfig& config) {
  try {
    make_endpoint(config);
  } catch (const UsageError& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(MakeEndpoint, RefusesABaseUrlThatIsNone) {
  for (const char* url : {"", "not a url", "ftp://host/v1", "file:///etc/passwd", "http://",
                          "localhost:8000/v1", "https://exa mple.com/v1"}) {
    EXPECT_THAT(refusal(config_for(url)), HasSubstr("is no http or https URL")) << url;
  }
  EXPECT_THAT(refusal(config_for("https://h/v1?key=x")), HasSubstr("query or fragment"));
  const std::string with_password = refusal(config_for("https://user:hunter2@h/v1"));
  EXPECT_THAT(with_password, HasSubstr("carries a user or password"));
  EXPECT_THAT(with_password, Not(HasSubstr("hunter2")));
}

TEST(MakeEndpoint, RefusesAMissingOrUnusableKey) {
  EndpointConfig config = config_for("https://api.example.com/v1");
  EXPECT_EQ(refusal(config), "accepted");
  config.api_key_env = "WINNOW_TEST_NO_SUCH_KEY";
  EXPECT_EQ(refusal(config), "no key for api.example.com: the environment variable "
                             "WINNOW_TEST_NO_SUCH_KEY is not set");
  setenv("WINNOW_TEST_BAD_KEY", "sk-1\r\nX-Injected: 1", 1);
  config.api_key_env = "WINNOW_TEST_BAD_KEY";
  EXPECT_THAT(refusal(config),
              HasSubstr("the key in WINNOW_TEST_BAD_KEY holds a space, line break"));
  EXPECT_THAT(refusal(config), Not(HasSubstr("sk-1")));
}

TEST(MakeEndpoint, RefusesUnknownKindsNumbersAndFiles) {
  EndpointConfig config;
  config.kind = "opnai";
  EXPECT_EQ(refusal(config), "[endpoint] unknown kind 'opnai'; did you mean 'openai'?");
  config.kind = "replay";
  config.file = "/nonexistent.jsonl";
  EXPECT_THAT(refusal(config), HasSubstr("no such file: /nonexistent.jsonl"));
  config.parallel = 0;
  EXPECT_EQ(refusal(config), "[endpoint] parallel is 0; expected 1 to 1024");
  config = config_for("https://api.example.com/v1");
  config.model = "";
  EXPECT_EQ(refusal(config), "no model is named for the endpoint");
}

TEST(ProbeEndpoint, SaysWhatIsMissingWithoutCalling) {
  EndpointConfig config = config_for("https://api.example.com/v1");
  const Availability ready = probe_endpoint(config);
  EXPECT_TRUE(ready.ok);
  EXPECT_EQ(ready.detail, "api.example.com/v1/chat/completions, key in WINNOW_TEST_KEY");
  config.api_key_env = "WINNOW_TEST_NO_SUCH_KEY";
  const Availability missing = probe_endpoint(config);
  EXPECT_FALSE(missing.ok);
  EXPECT_THAT(missing.why, HasSubstr("WINNOW_TEST_NO_SUCH_KEY is not set"));
  EXPECT_THAT(missing.remedy, HasSubstr("export WINNOW_TEST_NO_SUCH_KEY"));
  const TemporaryDirectory directory("probe");
  config.kind = "replay";
  config.file = (directory.path() / "calls.jsonl").string();
  EXPECT_FALSE(probe_endpoint(config).ok);
  std::ofstream(config.file) << "\n";
  EXPECT_TRUE(probe_endpoint(config).ok);
}

} // namespace
} // namespace winnow::agents
