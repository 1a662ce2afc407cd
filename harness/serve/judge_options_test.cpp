// What a request may say about its kernels, and what the server's options change.
#include "harness/serve/judge_record.h"
#include "harness/serve/testing/judge_fixture.h"
#include "store/database.h"

#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using test::family_saying;
using test::kernel_saying;

using JudgeOptionsTest = test::JudgeFixture;

TEST_F(JudgeOptionsTest, GivesMetadataBackAsItWas) {
  const json metadata = {{"step", 120}, {"name", "\u00e4"}, {"list", {1, nullptr, 2.5}}};
  const std::vector<json> items = {item("a", kernel_saying("correct", 2))};
  const json accepted =
      body_of(send("POST", "/v1/judge", {{"items", items}, {"metadata", metadata}}));
  EXPECT_EQ(accepted.at("metadata"), metadata);
  restart();
  const std::string batch = "/v1/batches/" + accepted.at("batch").get<std::string>();
  EXPECT_EQ(body_of(send("GET", batch)).at("metadata"), metadata);
  EXPECT_TRUE(judge(items).at("metadata").is_null());
  const auto stream =
      send("POST", "/v1/judge?stream=1", {{"items", items}, {"metadata", metadata}});
  EXPECT_EQ(json::parse(stream->lines.front()).at("metadata"), metadata);
}

TEST_F(JudgeOptionsTest, MeasuresWhatARequestAsksFor) {
  const std::string kernel = family_saying(2);
  json one = item("a", kernel);
  one["parameters"] = {{"TIMES", 3}};
  const json body = {
      {"items", {one}}, {"counters", "full"}, {"energy", true}, {"time_budget_ms", 300}};
  const json accepted = body_of(send("POST", "/v1/judge", body));
  const std::string job = accepted.at("jobs").at(0).at("job");
  for (const bool again : {false, true}) { // a restart asks for the same
    ASSERT_EQ(evaluations->requests.size(), 1U) << again;
    const evaluators::EvaluationRequest& request = evaluations->requests.front();
    EXPECT_EQ(request.choices, (std::vector<tasks::ParameterChoice>{{{"TIMES", 3}}}));
    EXPECT_EQ(request.protocol.counters, evaluators::Counting::Full);
    EXPECT_TRUE(request.protocol.energy && request.protocol.warm && !request.protocol.reuse);
    EXPECT_EQ(request.protocol.time_budget, std::chrono::milliseconds(300));
    if (!again) {
      restart();
    }
  }
  EXPECT_NE(judge({item("a", kernel)}).at("jobs").at(0).at("job"), job);
  one["parameters"] = {{"TIMES", 17}};
  const json refused = body_of(send("POST", "/v1/judge", {{"items", {one}}}));
  EXPECT_EQ(refused.at("jobs").at(0).at("state"), "refused");
  for (const json& wrong :
       {json{{"counters", "auto"}}, json{{"time_budget_ms", 60'000}}, json{{"energy", 1}},
        json{{"counters", "fast"}, {"depth", "correct"}}}) {
    json asked = {{"items", {item("a", kernel)}}};
    asked.update(wrong);
    EXPECT_EQ(status_of(send("POST", "/v1/judge", asked)), 422) << asked;
  }
}

TEST_F(JudgeOptionsTest, GivesTheOwnerARecordWithoutHiddenShapes) {
  const std::string job = judge({item("a", kernel_saying("correct", 2))}).at("jobs")[0].at("job");
  const std::string target = "/v1/jobs/" + job + "/record";
  EXPECT_EQ(status_of(send("GET", target)), 404); // not judged yet
  evaluations->answer();
  const auto exchange = send("GET", target);
  ASSERT_EQ(status_of(exchange), 200);
  const std::string text = exchange->answer()->body;
  EXPECT_EQ(text.find("SECRET"), std::string::npos);
  const JudgeRecord record = read_record(text);
  EXPECT_EQ(record.light.by_shape.at("n=1"), 0.5);
  const evaluators::EvaluationResult& result = record.result;
  EXPECT_EQ(result.evaluations.at(0).speedup, 2);
  EXPECT_EQ(result.evaluations.at(0).hidden_speedup, 0);
  EXPECT_EQ(status_of(send("GET", target, nullptr, "bob")), 404);
  EXPECT_EQ(status_of(send("GET", target, nullptr, kReader)), 200);
}

TEST_F(JudgeOptionsTest, SaysWhatWasKnownAndHowLongAKernelWaited) {
  const std::vector<json> items = {item("a", kernel_saying("correct", 2)),
                                   {{"id", "b"}, {"task", "axpy"}, {"reply", "no kernel"}}};
  const json accepted = judge(items);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  evaluations->answer();
  const json page = body_of(send("GET", "/v1/batches/" + accepted.at("batch").get<std::string>()));
  EXPECT_EQ(page.at("results").at(0).at("cached"), false); // a reply without a kernel
  const json first = page.at("results").at(1);
  EXPECT_EQ(first.at("cached"), false);
  EXPECT_GT(first.at("queued_seconds"), 0.02);
  EXPECT_LT(first.at("queued_seconds"), 60);
  EXPECT_DOUBLE_EQ(first.at("speed_of_light"), 0.2);
  const json again = judge(items);
  EXPECT_EQ(again.at("results").at(1).at("id"), "b");
  EXPECT_EQ(again.at("results").at(0).at("cached"), true);
  EXPECT_EQ(again.at("results").at(0).at("queued_seconds"), 0);
  judge({item("w", kernel_saying("wrong", 0))});
  evaluations->answer();
  const json wrong = judge({item("w", kernel_saying("wrong", 0))}).at("results").at(0);
  EXPECT_TRUE(wrong.at("speed_of_light").is_null());
}

TEST_F(JudgeOptionsTest, AHigherPriorityGoesFirst) {
  in_flight = 1;
  restart();
  const auto ask = [&](double speedup, int priority) {
    return body_of(
        send("POST", "/v1/judge",
             {{"items", {item("a", kernel_saying("correct", speedup))}}, {"priority", priority}}));
  };
  ask(2, 0); // runs at once
  EXPECT_EQ(ask(3, 0).at("jobs").at(0).at("position"), 0);
  EXPECT_EQ(ask(4, -5).at("jobs").at(0).at("position"), 1);
  EXPECT_EQ(ask(5, 7).at("jobs").at(0).at("position"), 0);
  EXPECT_EQ(ask(4, 9).at("jobs").at(0).at("position"), 0); // asked again, and in a hurry
  restart();                                               // the store keeps the priorities
  std::vector<std::string> order;
  while (!evaluations->requests.empty()) {
    const std::string& text = evaluations->requests[0].text;
    order.push_back(text.substr(text.find("speedup="), 9));
    evaluations->answer();
  }
  EXPECT_THAT(order, ::testing::ElementsAre("speedup=4", "speedup=5", "speedup=2", "speedup=3"));
}

TEST_F(JudgeOptionsTest, TunesAFamilyAndRewardsTheChoiceThatWon) {
  const json body = {{"items", {item("a", family_saying(2)), item("b", family_saying(2, 3))}},
                     {"max_variants", 3}};
  send("POST", "/v1/judge", body);
  std::set<evaluators::Depth> depths;
  while (!evaluations->requests.empty()) {
    depths.insert(evaluations->requests[0].depth);
    evaluations->answer();
  }
  EXPECT_THAT(depths, ::testing::ElementsAre(evaluators::Depth::Full, evaluators::Depth::Trial));
  const json page = body_of(send("POST", "/v1/judge", body)); // from the store
  ASSERT_TRUE(page.at("done"));
  const json best = page.at("results").at(0), second = page.at("results").at(1);
  EXPECT_EQ(best.at("speedup").at("value"), 6);
  EXPECT_EQ(best.at("parameters"), json({{"TIMES", 3}}));
  EXPECT_TRUE(best.at("race").is_null()); // its race against the default is no race of the request
  EXPECT_EQ(second.at("speedup").at("value"), 4); // the choice 3 is wrong
  const json plain = judge({item("a", family_saying(2))});
  EXPECT_FALSE(plain.at("done")); // another job
}

TEST_F(JudgeOptionsTest, AnAccountIsKnownWithoutReadingTheStore) {
  const auto account = [&](const std::string& owner = "ann") {
    return body_of(send("GET", "/v1/account", nullptr, owner));
  };
  const auto sums = [](int evaluations, int hidden_answers) {
    return json{
        {"evaluations", evaluations}, {"most", nullptr}, {"hidden_answers", hidden_answers}};
  };
  EXPECT_EQ(account(), sums(0, 0));
  judge({item("a", kernel_saying("correct", 2)),
         item("b", kernel_saying("correct", 2)),
         item("c", kernel_saying("wrong", 0)),
         item("d", kernel_saying("compile_error", 0)),
         {{"id", "e"}, {"task", "axpy"}, {"reply", "no kernel"}}});
  EXPECT_EQ(account(), sums(3, 0)) << "what waits counts, the reply without a kernel does not";
  evaluations->answer_all();
  EXPECT_EQ(account(), sums(2, 1));
  send("POST", "/v1/judge", {{"items", {item("a", family_saying(2, 3))}}, {"max_variants", 3}});
  while (!evaluations->requests.empty()) {
    evaluations->answer();
  }
  EXPECT_EQ(account(), sums(3, 3)) << "the default and the choice 2 passed; 3 was wrong before";
  restart();
  EXPECT_EQ(account(), sums(3, 3));
  judge({item("a", kernel_saying("correct", 2))});
  EXPECT_EQ(account(), sums(3, 3)) << "it is known";
  EXPECT_EQ(account("bob"), sums(0, 0));
  store->read([](const store::Database& database) {
    store::Query(database, "DELETE FROM judge_items").run();
  });
  EXPECT_EQ(account(), sums(3, 3)) << "no row was read";
}

TEST_F(JudgeOptionsTest, AFaultOfAHeatCostsNoVerdict) {
  const json body = {{"items", {item("a", family_saying(2))}}, {"max_variants", 3}};
  const std::string batch =
      "/v1/batches/" + body_of(send("POST", "/v1/judge", body)).at("batch").get<std::string>();
  evaluations->answer();
  evaluations->fail("the device was lost"); // asked again
  ASSERT_EQ(evaluations->requests.size(), 1U);
  evaluations->fail("the device was lost");
  EXPECT_TRUE(evaluations->requests.empty());
  const json result = body_of(send("GET", batch)).at("results").at(0);
  EXPECT_EQ(result.at("verdict"), "correct");
  EXPECT_EQ(result.at("reward"), 2.3);
}

TEST_F(JudgeOptionsTest, CancelsAFamilyBetweenItsHeats) {
  const json body = {{"items", {item("a", family_saying(2))}}, {"max_variants", 3}};
  const std::string job =
      body_of(send("POST", "/v1/judge", body)).at("jobs").at(0).at("job").get<std::string>();
  evaluations->answer();
  EXPECT_EQ(status_of(send("DELETE", "/v1/jobs/" + job)), 200);
  evaluations->fail("cancelled");
  EXPECT_TRUE(evaluations->requests.empty());
  EXPECT_EQ(body_of(send("GET", "/v1/jobs/" + job)).at("fault"), "cancelled");
}

TEST_F(JudgeOptionsTest, KernelsOfABatchShareTheirInputs) {
  seed_from_batch = true;
  restart();
  const std::vector<json> items = {item("a", kernel_saying("correct", 2)),
                                   item("b", kernel_saying("correct", 3))};
  const auto seeds = [&] {
    std::set<std::uint64_t> seeds;
    for (const evaluators::EvaluationRequest& request : evaluations->requests) {
      EXPECT_FALSE(request.protocol.reuse); // of other inputs
      seeds.insert(request.protocol.seed.value());
    }
    return seeds;
  };
  judge(items);
  ASSERT_EQ(evaluations->requests.size(), 2U);
  const auto first = seeds();
  EXPECT_EQ(first.size(), 1U);
  judge(items); // a retry joins the jobs
  EXPECT_EQ(evaluations->requests.size(), 2U);
  restart();
  EXPECT_EQ(seeds(), first);
  evaluations->answer_all();
  EXPECT_TRUE(judge(items).at("done"));
  judge({items[0], item("c", kernel_saying("wrong", 0))}); // the next step
  ASSERT_EQ(evaluations->requests.size(), 2U);
  const auto second = seeds();
  EXPECT_EQ(second.size(), 1U);
  EXPECT_NE(second, first);
  evaluations->answer_all();
  send("POST", "/v1/judge", {{"items", items}, {"fresh", true}});
  EXPECT_NE(seeds(), first);
}

TEST_F(JudgeOptionsTest, ARewardOfTheConfigurationOutlivesIt) {
  RewardFormula mine;
  mine.name = "mine";
  mine.correct = 5;
  mine.least = -1;
  rewards.add(mine);
  restart();
  const json body = {{"items", {item("a", kernel_saying("correct", 2))}}, {"reward", "mine"}};
  const json accepted = body_of(send("POST", "/v1/judge", body));
  evaluations->answer();
  rewards = {};
  restart();
  const json page = body_of(send("GET", "/v1/batches/" + accepted.at("batch").get<std::string>()));
  EXPECT_EQ(page.at("results").at(0).at("reward"), 5);
  EXPECT_EQ(page.at("results").at(0).at("reward_terms").at("preset"), "mine");
  EXPECT_EQ(status_of(send("POST", "/v1/judge", body)), 422); // this server has it no more
}

TEST_F(JudgeOptionsTest, RefusesUnknownOptionsOfTheUrl) {
  const json body = {{"items", {item("a", kernel_saying("correct", 2))}}};
  EXPECT_EQ(status_of(send("POST", "/v1/judge?wait_s=60", body)), 422); // belongs into the body
  const json accepted = body_of(send("POST", "/v1/judge", body));
  const std::string batch = "/v1/batches/" + accepted.at("batch").get<std::string>();
  EXPECT_EQ(status_of(send("GET", batch + "?wait=60")), 422);
}

} // namespace
} // namespace winnow::harness
