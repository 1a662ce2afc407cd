// What Winnow books for answers that do not end as they should, against what a provider may bill.
// With WINNOW_BOOKS_TABLE=FILE the results are also written to FILE, as a table in Markdown.
#include "agents/endpoints/endpoint_factory.h"
#include "agents/endpoints/live_endpoint_fixture.h"
#include "agents/model/model_endpoint.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using tests::chat_reply;
using tests::FakeEndpoint;
using tests::FakeReply;
using tests::Fault;

constexpr std::int64_t kPromptTokens = 100; ///< 300 bytes
constexpr double kInputPrice = 2;
constexpr double kOutputPrice = 8;
const std::string kBookedText(300, 'x');

struct Kind {
  std::string name;
  FakeReply reply;
  bool cancelled = false;
  bool text_arrives = false; ///< half of kBookedText
};

/// The server counts a prompt of kPromptTokens and four bytes a token.
FakeReply long_reply() {
  FakeReply reply = chat_reply(kBookedText);
  reply.answer->usage = {kPromptTokens, 0, 75, 0, 0};
  return reply;
}

std::vector<Kind> broken_streams() {
  const auto faulty = [](Fault fault) { return with_fault(long_reply(), fault); };
  FakeReply slow = long_reply();
  slow.delivery.between = std::chrono::milliseconds(40);
  return {{"no answer until the time-out", faulty(Fault::NeverAnswer)},
          {"connection closed without a byte", faulty(Fault::CloseAtOnce)},
          {"stream opened, no token", faulty(Fault::SilentAfterHead)},
          {"closed in the middle", faulty(Fault::CloseMidBody), false, true},
          {"silent in the middle", faulty(Fault::StallMidBody), false, true},
          {"ended early without a finish reason", faulty(Fault::EndEarly), false, true},
          {"error event in the middle", faulty(Fault::ErrorMidStream), false, true},
          {"cancelled in the middle", slow, true}};
}

ModelRequest long_request() {
  ModelRequest request;
  request.key = "axpy/0/0";
  request.messages = {{"user", std::string(3 * kPromptTokens, 'p')}};
  return request;
}

EndpointConfig priced(const FakeEndpoint& server, const std::string& format) {
  EndpointConfig config = config_for(server, format);
  config.dollars_per_million_input = kInputPrice;
  config.dollars_per_million_output = kOutputPrice;
  config.max_attempts = 1;
  config.first_token_seconds = config.stall_seconds = 0.4;
  return config;
}

ModelReply reply_to(ModelEndpoint& endpoint, bool cancelled) {
  std::promise<ModelReply> promise;
  endpoint.start(long_request(), [&](ModelReply reply) { promise.set_value(std::move(reply)); });
  if (cancelled) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    endpoint.cancel_all();
  }
  return promise.get_future().get();
}

void write_table(const std::string& row) {
  if (const char* path = std::getenv("WINNOW_BOOKS_TABLE"); path != nullptr) {
    std::ofstream(path, std::ios::app) << row;
  }
}

class Books : public ::testing::TestWithParam<std::string> {};

TEST_P(Books, HaveTheLeastThatAProviderBillsForABrokenStream) {
  for (const Kind& kind : broken_streams()) {
    SCOPED_TRACE(kind.name);
    const FakeEndpoint server({kind.reply});
    const auto endpoint = make_endpoint(priced(server, GetParam()));
    const ModelReply reply = reply_to(*endpoint, kind.cancelled);
    EXPECT_NE(reply.status, ModelReply::Status::Ok);
    ASSERT_TRUE(reply.estimated);
    const std::int64_t booked = reply.usage.tokens() + reply.estimated->tokens;
    const std::int64_t text = kind.text_arrives ? 30 : 0;
    EXPECT_GE(booked, kPromptTokens + text);
    EXPECT_LE(booked, kPromptTokens + 100) << "more than all of the text";
    const double dollars = reply.dollars.value_or(0) + reply.estimated->dollars;
    EXPECT_GE(dollars,
              (100 * kInputPrice + (kind.text_arrives ? 30 : 0) * kOutputPrice) / 1e6 - 1e-12);
    // Gemini counts in each event, and Anthropic counts the prompt in the first one.
    EXPECT_EQ(reply.estimated->requests, reply.estimated->tokens > 0 ? 1 : 0);
    EXPECT_TRUE(reply.estimated->tokens > 0 || reply.usage.prompt_tokens > 0);
    write_table(fmt::format("| {} | {} | {} + {} tokens | {} tokens, ${:.6f} |\n", kind.name,
                            GetParam(), reply.usage.prompt_tokens, reply.usage.completion_tokens,
                            reply.estimated->tokens, reply.estimated->dollars));
  }
}

INSTANTIATE_TEST_SUITE_P(LiveEndpoint, Books, ::testing::ValuesIn(kFormats),
                         [](const auto& format) { return format.param; });

TEST(LiveEndpointBooks, EveryBrokenAttemptOfACallCounts) {
  const FakeReply broken = with_fault(chat_reply(kBookedText), Fault::CloseMidBody);
  const FakeEndpoint server({broken, broken, chat_reply("whole")});
  EndpointConfig config = priced(server, "chat");
  config.max_attempts = 4;
  const ModelReply reply = reply_to(*make_endpoint(config), false);
  EXPECT_EQ(reply.text, "whole");
  EXPECT_EQ(reply.usage.prompt_tokens, 10) << "what the server counted";
  EXPECT_DOUBLE_EQ(reply.dollars.value(), (10 * kInputPrice + 5 * kOutputPrice) / 1e6);
  ASSERT_TRUE(reply.estimated);
  EXPECT_EQ(reply.estimated->requests, 2);
  EXPECT_GT(reply.estimated->tokens, 2 * kPromptTokens + 80);
  EXPECT_GT(reply.estimated->dollars, 2 * (100 * kInputPrice + 40 * kOutputPrice) / 1e6);
}

TEST(LiveEndpointBooks, RefusedRequestsCostNothing) {
  for (const FakeReply& refusal :
       {tests::error_reply(500, "down"), tests::error_reply(429, "slow"),
        tests::raw_reply(200, "<html>login</html>"), tests::raw_reply(200, R"({"error": "no"})")}) {
    const FakeEndpoint server({refusal});
    const ModelReply reply = reply_to(*make_endpoint(priced(server, "chat")), false);
    ASSERT_TRUE(reply.estimated);
    EXPECT_EQ(reply.estimated->requests, 0) << reply.error;
  }
  const auto nobody = [] { return config_for("http://127.0.0.1:1/v1"); };
  EXPECT_EQ(ask(nobody()).estimated->requests, 0) << "nothing was sent";
}

/// A whole streamed answer with this usage.
ModelReply paid_with(const std::string& usage) {
  const FakeEndpoint server({tests::raw_reply(
      200,
      R"(data: {"choices":[{"index":0,"delta":{"content":")" + kBookedText +
          R"("},"finish_reason":"stop"}],"usage":)" + usage + "}\n\ndata: [DONE]\n\n",
      "text/event-stream")});
  return reply_to(*make_endpoint(priced(server, "chat")), false);
}

TEST(LiveEndpointBooks, HiddenReasoningIsPaid) {
  const ModelReply reply =
      paid_with(R"({"prompt_tokens":100,"completion_tokens":20,"total_tokens":9120})");
  EXPECT_EQ(reply.usage.completion_tokens, 9020);
  EXPECT_DOUBLE_EQ(reply.dollars.value(), (100 * kInputPrice + 9020 * kOutputPrice) / 1e6);
  EXPECT_EQ(reply.estimated->requests, 0);
}

TEST(LiveEndpointBooks, NullIsNotZero) {
  for (const char* usage : {"null", R"({"prompt_tokens":100,"completion_tokens":null})",
                            R"({"prompt_tokens":100,"completion_tokens":null,"total_tokens":100})",
                            R"({"prompt_tokens":null,"completion_tokens":5})"}) {
    SCOPED_TRACE(usage);
    const ModelReply reply = paid_with(usage);
    ASSERT_EQ(reply.status, ModelReply::Status::Ok);
    EXPECT_FALSE(reply.dollars);
    EXPECT_EQ(reply.usage.tokens(), 0);
    EXPECT_EQ(reply.estimated->requests, 1);
    EXPECT_EQ(reply.estimated->tokens, kPromptTokens + 100);
    EXPECT_DOUBLE_EQ(reply.estimated->dollars, (100 * kInputPrice + 100 * kOutputPrice) / 1e6);
  }
  const ModelReply total =
      paid_with(R"({"prompt_tokens":100,"completion_tokens":null,"total_tokens":150})");
  EXPECT_EQ(total.usage.completion_tokens, 50) << "the total says it";
  EXPECT_TRUE(total.dollars);
}

TEST(LiveEndpointBooks, ZeroTokensForATextAreNotCounted) {
  for (const char* usage : {R"({"prompt_tokens":0,"completion_tokens":0,"total_tokens":0})",
                            R"({"prompt_tokens":0,"completion_tokens":5,"total_tokens":5})",
                            R"({"prompt_tokens":100,"completion_tokens":0,"total_tokens":100})"}) {
    SCOPED_TRACE(usage);
    const ModelReply reply = paid_with(usage);
    ASSERT_EQ(reply.status, ModelReply::Status::Ok);
    EXPECT_FALSE(reply.dollars);
    EXPECT_EQ(reply.estimated->tokens, kPromptTokens + 100);
  }
  const ModelReply most =
      paid_with(R"({"prompt_tokens":0,"completion_tokens":5000,"total_tokens":5000})");
  EXPECT_EQ(most.estimated->tokens, kPromptTokens + 5000) << "not below what was counted";
}

TEST(LiveEndpointBooks, AnErrorAfterTheWholeAnswerTakesNothingFromIt) {
  const FakeEndpoint server({tests::raw_reply(
      200,
      R"(data: {"choices":[{"index":0,"delta":{"content":"kept"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}})"
      "\n\n"
      R"(data: {"error":{"message":"late trouble","code":500}})"
      "\n\n",
      "text/event-stream")});
  const ModelReply reply = reply_to(*make_endpoint(priced(server, "chat")), false);
  EXPECT_EQ(reply.text, "kept") << reply.error;
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(reply.usage.completion_tokens, 20);
}

} // namespace
} // namespace winnow::agents
