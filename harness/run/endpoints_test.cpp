#include "agents/record/recording.h"
#include "base/error.h"
#include "base/files.h"
#include "harness/run/endpoints.h"
#include "harness/run/state/journal.h"
#include "harness/run/testing/loop_fake.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using ::testing::HasSubstr;

class ReplayOfAStore : public testing::Test {
protected:
  ReplayOfAStore() {
    config_.file = directory_.path() / "store.db";
    store::RunStore store(config_.file, store::RunStore::Mode::ReadWrite);
    record(store, "old", "old answer");
    record(store, "new", "new answer");
  }

  static void record(store::RunStore& store, const std::string& run, const std::string& text) {
    Journal journal(store, store.create_run(run, nlohmann::json::object(), {}));
    const store::RowId task = store.add_task(test::small_task("a"));
    agents::ModelRequest request;
    request.key = "a/0/0";
    ModelReply reply = test::ok_reply(text);
    reply.request_id = "req_1";
    journal.finish_call(journal.begin_call(task, request, "chat", std::nullopt), request, reply);
    request.key = "a/0/1"; // never answered
    journal.begin_call(task, request, "chat", std::nullopt);
  }

  ModelReply ask(const std::string& key) const {
    const auto endpoint = make_run_endpoint(config_);
    std::promise<ModelReply> answer;
    agents::ModelRequest request;
    request.key = key;
    endpoint->start(request, [&](ModelReply reply) { answer.set_value(std::move(reply)); });
    return answer.get_future().get();
  }

  TemporaryDirectory directory_{"endpoints"};
  agents::EndpointConfig config_;
};

TEST_F(ReplayOfAStore, TakesTheNewestRun) {
  const ModelReply reply = ask("a/0/0");
  EXPECT_EQ(reply.status, ModelReply::Status::Ok);
  EXPECT_EQ(reply.text, "new answer");
  EXPECT_EQ(reply.request_id, "req_1");
  EXPECT_EQ(reply.dollars, 0.01);
  EXPECT_EQ(ask("a/0/1").status, ModelReply::Status::Exhausted);
}

TEST_F(ReplayOfAStore, TakesTheRunThatIsNamed) {
  config_.run = "old";
  EXPECT_EQ(ask("a/0/0").text, "old answer");
  EXPECT_THAT(probe_run_endpoint(config_).detail, HasSubstr("run 'old'"));
}

TEST_F(ReplayOfAStore, SaysWhichRunsThereAre) {
  config_.run = "olt";
  try {
    make_run_endpoint(config_);
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no run 'olt'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'old'?"));
  }
  EXPECT_FALSE(probe_run_endpoint(config_).ok);
}

TEST_F(ReplayOfAStore, OtherFilesAreRecordings) {
  config_.file = directory_.path() / "calls.jsonl";
  write_file_atomic(config_.file,
                    agents::encode_call({"a/0/0", test::ok_reply("line"), ""}) + "\n");
  EXPECT_EQ(ask("a/0/0").text, "line");
  EXPECT_TRUE(probe_run_endpoint(config_).ok);
}

TEST(RunPrice, ComesFromTheEndpointOrAFile) {
  const TemporaryDirectory directory("run-price");
  agents::EndpointConfig config;
  config.kind = "chat";
  config.base_url = "http://localhost:8000/v1";
  config.model = "local";
  config.prices = directory.path() / "prices.toml";
  write_file_atomic(config.prices, "date = \"2026-11-20\"\n[[price]]\nhost = \"localhost\"\n"
                                   "model = \"local\"\ninput = 1\noutput = 2\n");
  ASSERT_TRUE(run_price(config));
  EXPECT_EQ(run_price(config)->output, 2);
  config.dollars_per_million_input = config.dollars_per_million_output = 3;
  EXPECT_EQ(run_price(config)->output, 3);
}

TEST(RunPrice, OfAProviderNeedsNoKind) {
  agents::EndpointConfig config;
  config.provider = "openai";
  config.model = "no-such-model";
  EXPECT_FALSE(run_price(config));
  EXPECT_THROW(check_dollar_limit({.dollars = 3}, config, run_price(config)), UsageError);
  config.dollars_per_million_input = config.dollars_per_million_output = 3;
  ASSERT_TRUE(run_price(config));
  EXPECT_NO_THROW(check_dollar_limit({.dollars = 3}, config, run_price(config)));
}

TEST(RunPrice, ALimitOnDollarsNeedsIt) {
  const TemporaryDirectory directory("run-price");
  agents::EndpointConfig config;
  config.kind = "chat";
  config.base_url = "http://localhost:8000/v1";
  config.model = "local";
  config.prices = directory.path() / "prices.toml";
  write_file_atomic(config.prices, "date = \"2026-11-20\"\n");
  const auto unknown = run_price(config);
  EXPECT_FALSE(unknown);
  EXPECT_NO_THROW(check_dollar_limit({.calls = 3}, config, unknown));
  EXPECT_THROW(check_dollar_limit({.dollars = 3}, config, unknown), UsageError);
  EXPECT_NO_THROW(check_dollar_limit({.dollars = 3}, config, agents::Price{}));
  config.kind = "replay";
  EXPECT_FALSE(run_price(config));
  EXPECT_NO_THROW(check_dollar_limit({.dollars = 3}, config, run_price(config)));
}

TEST(RunPrice, ALimitOnDollarsNeedsOneForEachSessionOfAnAgent) {
  agents::EndpointConfig config;
  config.kind = "agent";
  EXPECT_THROW(check_dollar_limit({.dollars = 3}, config, agents::Price{}), UsageError);
  EXPECT_EQ(reservation({10, 0.5}, config).dollars, 0.5);
  config.dollars_per_session = 2;
  EXPECT_NO_THROW(check_dollar_limit({.dollars = 3}, config, std::nullopt));
  EXPECT_EQ(reservation({10, 0.5}, config).dollars, 2);
}

} // namespace
} // namespace winnow::harness
