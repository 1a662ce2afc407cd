// Tests that hold for each wire format, streamed and not.
#include "agents/endpoints/endpoint_factory.h"
#include "agents/endpoints/live_endpoint_fixture.h"
#include "agents/model/model_endpoint.h"

#include <map>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::chat_reply;
using tests::error_reply;
using tests::FakeEndpoint;
using tests::FakeReply;
using tests::Fault;
using tests::SeenRequest;
using tests::with_fault;

class EveryFormat : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
public:
  static std::string name(const ::testing::TestParamInfo<ParamType>& info) {
    return std::get<0>(info.param) + (std::get<1>(info.param) ? "_streamed" : "");
  }

protected:
  EndpointConfig config_at(const FakeEndpoint& server) const {
    EndpointConfig config = config_for(server, std::get<0>(GetParam()));
    config.stream = std::get<1>(GetParam());
    config.dollars_per_million_input = kPrice.input;
    config.dollars_per_million_output = kPrice.output;
    return config;
  }
  // Without a price of its own in the config, cached input costs as much as other input.
  static constexpr tests::FakePrice kPrice{2, 2, 8};
};
INSTANTIATE_TEST_SUITE_P(LiveEndpoint, EveryFormat,
                         ::testing::Combine(::testing::ValuesIn(kFormats), ::testing::Bool()),
                         &EveryFormat::name);

FakeReply thoughtful_reply() {
  FakeReply reply = chat_reply(
      "gr\xC3\xBC\xC3\x9F dich, \xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x98\x80!\n```cuda\n```\n");
  reply.answer->reasoning = "how does one greet?";
  reply.answer->usage = {1000, 300, 90, 40, 0};
  return reply;
}

TEST_P(EveryFormat, CountsTokensAndDollarsAsTheServerDoes) {
  tests::FakeEndpointOptions options;
  options.price = kPrice;
  const FakeReply scripted = thoughtful_reply();
  const FakeEndpoint server([&](const SeenRequest&, std::size_t) { return scripted; }, options);
  const ModelReply reply = ask(config_at(server));
  ASSERT_EQ(reply.status, ModelReply::Status::Ok) << reply.error;
  EXPECT_EQ(reply.text, scripted.answer->text);
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(reply.model, "fake-model");
  const Usage& usage = scripted.answer->usage;
  EXPECT_EQ(reply.usage.prompt_tokens, usage.prompt_tokens);
  EXPECT_EQ(reply.usage.cached_tokens, usage.cached_tokens);
  EXPECT_EQ(reply.usage.completion_tokens, usage.completion_tokens);
  EXPECT_EQ(reply.usage.reasoning_tokens, usage.reasoning_tokens);
  ASSERT_EQ(server.answered().size(), 1U);
  EXPECT_DOUBLE_EQ(reply.dollars.value(), server.answered().front().dollars);
  EXPECT_EQ(reply.first_token_seconds.has_value(), std::get<1>(GetParam()));
}

TEST_P(EveryFormat, PaysForWhatABrokenStreamHadCounted) {
  tests::FakeEndpointOptions options;
  options.price = kPrice;
  const FakeEndpoint server(
      [](const SeenRequest&, std::size_t number) {
        return number == 0 ? with_fault(thoughtful_reply(), Fault::CloseMidBody)
                           : thoughtful_reply();
      },
      options);
  const ModelReply reply = ask(config_at(server));
  ASSERT_EQ(reply.status, ModelReply::Status::Ok) << reply.error;
  double dollars = 0;
  for (const tests::AnsweredCall& call : server.answered()) {
    dollars += call.dollars;
  }
  EXPECT_EQ(server.answered().size(), 2U);
  EXPECT_DOUBLE_EQ(reply.dollars.value(), dollars);
}

TEST_P(EveryFormat, ReadsTheSameHoweverItTravels) {
  const FakeReply plain = thoughtful_reply();
  std::vector<FakeReply> variants(6, plain);
  variants[0].delivery.piece_bytes = 1;
  variants[1].delivery.segment_bytes = 7; // cuts in the middle of characters and events
  variants[2].delivery.crlf = true;
  variants[3].delivery.comments = true;
  variants[4].delivery.multi_line = true;
  variants[5].delivery = {{}, {}, {}, 3, 5, true, true, true, false};
  for (const FakeReply& variant : variants) {
    const FakeEndpoint server({variant});
    const ModelReply reply = ask(config_at(server));
    ASSERT_EQ(reply.status, ModelReply::Status::Ok) << reply.error;
    EXPECT_EQ(reply.text, plain.answer->text);
    EXPECT_EQ(reply.usage.completion_tokens, plain.answer->usage.completion_tokens);
    EXPECT_EQ(server.requests().size(), 1U);
  }
}

TEST_P(EveryFormat, SendsTheKeyInOneHeaderOnly) {
  const FakeEndpoint server(
      {error_reply(401, "no " + kTestKey), chat_reply("your key is " + kTestKey)});
  const auto endpoint = make_endpoint(config_at(server));
  EXPECT_THAT(start(*endpoint, "a").get().error, Not(HasSubstr(kTestKey)));
  EXPECT_EQ(start(*endpoint, "b").get().text, "your key is [key]");
  const std::map<std::string, std::string> headers{{"anthropic", "x-api-key"},
                                                   {"gemini", "x-goog-api-key"}};
  const auto own = headers.find(std::get<0>(GetParam()));
  const std::string expected = own == headers.end() ? "authorization" : own->second;
  for (const SeenRequest& request : server.requests()) {
    EXPECT_THAT(request.body + request.target, Not(HasSubstr(kTestKey)));
    for (const auto& [name, value] : request.headers) {
      EXPECT_EQ(value.find(kTestKey) != std::string::npos, name == expected) << name;
    }
  }
}

TEST_P(EveryFormat, AsksOnceMoreForAReplyThatBreaksItsSchema) {
  const FakeEndpoint server({chat_reply("{\"speed\": \"fast\"}"), chat_reply("{\"speed\": 3}")});
  ModelRequest request;
  request.key = "k";
  request.messages = {{"user", "how fast?"}};
  request.schema = {"answer", R"({"type":"object","properties":{"speed":{"type":"number"}},)"
                              R"("required":["speed"],"additionalProperties":false})"};
  std::promise<ModelReply> promise;
  const auto endpoint = make_endpoint(config_at(server));
  endpoint->start(request, [&](ModelReply got) { promise.set_value(std::move(got)); });
  const ModelReply reply = promise.get_future().get();
  EXPECT_EQ(reply.text, "{\"speed\": 3}") << reply.error;
  EXPECT_TRUE(reply.repaired);
  EXPECT_EQ(reply.usage.prompt_tokens, 20) << "both requests are paid";
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_THAT(server.requests()[1].body, HasSubstr("speed\\\": \\\"fast"));
}

} // namespace
} // namespace winnow::agents
