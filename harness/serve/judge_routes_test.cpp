#include "harness/serve/testing/judge_fixture.h"
#include "store/database.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using test::kernel_saying;
using ::testing::HasSubstr;
using ::testing::Not;

using JudgeRoutesTest = test::JudgeFixture;

TEST_F(JudgeRoutesTest, AnswersABatchInTheOrderOfTheResults) {
  const json accepted = judge({item("a", kernel_saying("correct", 2)),
                               item("b", kernel_saying("wrong", 0)),
                               {{"id", "c"}, {"task", "axpy"}, {"reply", "I have no idea."}}});
  EXPECT_EQ(accepted.at("jobs").at(0).at("state"), "running");
  EXPECT_EQ(accepted.at("jobs").at(2).at("state"), "done"); // a reply without a kernel
  EXPECT_FALSE(accepted.at("done"));
  const std::string batch = "/v1/batches/" + accepted.at("batch").get<std::string>();
  const auto waiting = send("GET", batch + "?after=1&wait_s=60");
  EXPECT_EQ(status_of(waiting), 0);
  evaluations->answer();
  const json page = body_of(waiting);
  EXPECT_EQ(page.at("results").size(), 1U);
  EXPECT_EQ(page.at("results").at(0).at("id"), "a");
  EXPECT_DOUBLE_EQ(page.at("results").at(0).at("reward"), 2.3);
  evaluations->answer();
  const json all = body_of(send("GET", batch));
  EXPECT_TRUE(all.at("done"));
  EXPECT_EQ(all.at("next"), 3);
  EXPECT_EQ(all.at("results").at(0).at("verdict"), "bad_reply");
  EXPECT_EQ(all.at("results").at(2).at("verdict"), "wrong");
  EXPECT_EQ(all.at("results").at(2).at("reward"), 0);
}

TEST_F(JudgeRoutesTest, TheSameTextTenTimesCostsOneEvaluation) {
  std::vector<json> items(10);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = item(std::to_string(i), kernel_saying("correct", 2));
  }
  const json accepted = judge(items);
  judge({items[0]});
  ASSERT_EQ(evaluations->requests.size(), 1U);
  evaluations->answer();
  const auto page = send("GET", "/v1/batches/" + accepted.at("batch").get<std::string>());
  EXPECT_EQ(body_of(page).at("results").size(), 10U);
  const json known = judge({items[0]});
  EXPECT_TRUE(known.at("done"));
  EXPECT_EQ(known.at("results").at(0).at("reward"), 2.3);
  EXPECT_TRUE(evaluations->requests.empty());
  const json fresh = body_of(send("POST", "/v1/judge", {{"items", {items[0]}}, {"fresh", true}}));
  EXPECT_FALSE(fresh.at("done"));
  EXPECT_EQ(evaluations->requests.size(), 1U);
  EXPECT_FALSE(evaluations->requests[0].protocol.reuse);
}

TEST_F(JudgeRoutesTest, EachDepthIsAJobOfItsOwn) {
  for (const char* depth : {"compile", "correct", "full"}) {
    send("POST", "/v1/judge",
         {{"items", {item("a", kernel_saying("correct", 2))}}, {"depth", depth}});
  }
  ASSERT_EQ(evaluations->requests.size(), 3U);
  EXPECT_EQ(evaluations->requests[0].depth, evaluators::Depth::Compile);
  EXPECT_FALSE(evaluations->requests[1].protocol.timing);
  EXPECT_TRUE(evaluations->requests[2].protocol.timing);
}

TEST_F(JudgeRoutesTest, AFaultOfTheMachineHasNoReward) {
  const json accepted = judge({item("a", kernel_saying("correct", 2))});
  evaluations->fail("the device was lost");
  const json result = body_of(send("GET", "/v1/batches/" + accepted.at("batch").get<std::string>()))
                          .at("results")
                          .at(0);
  EXPECT_EQ(result.at("fault"), "infrastructure");
  EXPECT_TRUE(result.at("reward").is_null());
  EXPECT_FALSE(result.contains("verdict"));
  EXPECT_EQ(result.at("detail"), "the device was lost");
  EXPECT_EQ(body_of(send("GET", "/v1/health")).at("status"), "failing");
  EXPECT_FALSE(judge({item("a", kernel_saying("correct", 2))}).at("done")); // asked anew
  evaluations->answer();
  EXPECT_EQ(body_of(send("GET", "/v1/health")).at("status"), "ok");
  const json unsupported = judge({item("u", kernel_saying("unsupported", 0))});
  evaluations->answer();
  const json answer =
      body_of(send("GET", "/v1/batches/" + unsupported.at("batch").get<std::string>()));
  EXPECT_EQ(answer.at("results").at(0).at("fault"), "unsupported");
  EXPECT_TRUE(answer.at("results").at(0).at("reward").is_null());
}

TEST_F(JudgeRoutesTest, NeverTellsAboutHiddenShapes) {
  judge({item("a", kernel_saying("correct", 2)), item("b", kernel_saying("wrong_unseen", 0))});
  evaluations->answer_all();
  const auto exchange = send(
      "POST", "/v1/judge",
      {{"items",
        {item("a", kernel_saying("correct", 2)), item("b", kernel_saying("wrong_unseen", 0))}}});
  EXPECT_THAT(exchange->answer()->body, HasSubstr("wrong_unseen"));
  EXPECT_THAT(exchange->answer()->body, Not(HasSubstr("SECRET")));
  EXPECT_THAT(exchange->answer()->body, Not(HasSubstr("77.125")));
  EXPECT_THAT(exchange->answer()->body, Not(HasSubstr("409940994099"))); // longer than chance
}

TEST_F(JudgeRoutesTest, SpeedAtShownShapesAloneEarnsNothing) {
  const std::vector<json> items = {item("a", kernel_saying("correct", 5, "x hidden=0.5"))};
  judge(items);
  evaluations->answer();
  const json result = judge(items).at("results").at(0);
  EXPECT_EQ(result.at("promoted"), false);
  EXPECT_EQ(result.at("speedup").at("value"), 5);
  EXPECT_EQ(result.at("reward"), 1.3);
}

TEST_F(JudgeRoutesTest, RacesAgainstAKernelOfTheStore) {
  judge({item("a", kernel_saying("correct", 2)), item("b", kernel_saying("wrong", 0))});
  evaluations->answer_all();
  const auto race = [&](const std::string& rival) {
    const json body = {{"items", {item("c", kernel_saying("correct", 3))}},
                       {"race_against", rival}};
    send("POST", "/v1/judge", body);
    evaluations->answer_all();
    return body_of(send("POST", "/v1/judge", body));
  };
  const json raced = race("@1").at("results").at(0).at("race");
  EXPECT_EQ(raced.at("verdict"), "faster");
  EXPECT_EQ(raced.at("ratio"), 1.5);
  EXPECT_EQ(race("@2").at("jobs").at(0).at("error"),
            "race_against: you have no correct kernel of axpy with this name");
  EXPECT_EQ(race("@99").at("jobs").at(0).at("state"), "refused");
  EXPECT_EQ(status_of(send("POST", "/v1/judge",
                           {{"items", {item("c", kernel_saying("correct", 3))}},
                            {"depth", "compile"},
                            {"race_against", "@1"}})),
            422);
}

TEST_F(JudgeRoutesTest, AnotherTokenSeesNothing) {
  const json accepted = judge({item("a", kernel_saying("correct", 2))}, "ann");
  const std::string job = "/v1/jobs/" + accepted.at("jobs").at(0).at("job").get<std::string>();
  const std::string batch = "/v1/batches/" + accepted.at("batch").get<std::string>();
  for (const std::string& target : {job, batch, batch + "/stream"}) {
    EXPECT_EQ(status_of(send("GET", target, nullptr, "bob")), 404) << target;
  }
  EXPECT_EQ(status_of(send("DELETE", job, nullptr, "bob")), 404);
  EXPECT_EQ(body_of(send("GET", job, nullptr, "ann")).at("state"), "running");
}

TEST_F(JudgeRoutesTest, CancelsAJobOfItsOwnerOnly) {
  const std::vector<json> items = {item("a", kernel_saying("correct", 2))};
  const json accepted = judge(items, "ann"), other = judge(items, "bob");
  const std::string job = "/v1/jobs/" + accepted.at("jobs").at(0).at("job").get<std::string>();
  EXPECT_EQ(status_of(send("DELETE", job, nullptr, "bob")), 404);
  EXPECT_EQ(status_of(send("DELETE", job)), 200);
  EXPECT_EQ(evaluations->cancelled.size(), 1U); // bob's goes on
  EXPECT_EQ(body_of(send("GET", job)).at("fault"), "cancelled");
  EXPECT_EQ(status_of(send("DELETE", job)), 409);
  judge(items, "ann"); // asks again before the evaluation has ended
  evaluations->fail("cancelled");
  ASSERT_EQ(evaluations->requests.size(), 2U);
  evaluations->answer_all();
  EXPECT_EQ(body_of(send("GET", job)).at("reward"), 2.3);
}

TEST_F(JudgeRoutesTest, GoesOnAfterARestart) {
  const json accepted =
      judge({item("a", kernel_saying("correct", 2)), item("b", kernel_saying("correct", 3)),
             item("c", kernel_saying("correct", 4))});
  evaluations->answer();
  evaluations->answer();
  restart();
  ASSERT_EQ(evaluations->requests.size(), 1U); // only what has no answer
  EXPECT_THAT(evaluations->requests[0].text, HasSubstr("speedup=4"));
  evaluations->answer();
  const json page = body_of(send("GET", "/v1/batches/" + accepted.at("batch").get<std::string>()));
  std::vector<std::string> ids;
  for (const json& result : page.at("results")) {
    ids.push_back(result.at("id"));
  }
  EXPECT_THAT(ids, ::testing::ElementsAre("a", "b", "c"));
}

TEST_F(JudgeRoutesTest, StreamsALineForEachResult) {
  routes_setup.heartbeat = std::chrono::milliseconds(1);
  restart();
  const auto stream =
      send("POST", "/v1/judge?stream=1",
           {{"items", {item("a", kernel_saying("correct", 2)), item("b", "no plan here")}}});
  EXPECT_TRUE(stream->has_begun);
  EXPECT_EQ(stream->lines.size(), 1U);
  evaluations->answer();
  EXPECT_THAT(stream->lines.back(), HasSubstr("\"id\":\"a\""));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  routes->tick();
  EXPECT_EQ(stream->lines.back(), ""); // a sign of life
  EXPECT_FALSE(stream->has_ended);
  evaluations->answer();
  EXPECT_EQ(stream->lines.back(), R"({"done":true})");
  EXPECT_TRUE(stream->has_ended);
}

TEST_F(JudgeRoutesTest, AStreamDoesNotRestBetweenPages) {
  std::vector<json> items;
  for (int i = 0; i < 600; ++i) { // no kernels, so they have their answers at once
    items.push_back({{"id", std::to_string(i)}, {"task", "axpy"}, {"reply", "no kernel"}});
  }
  const json accepted = judge(items);
  EXPECT_EQ(accepted.at("answered"), 600);
  store->read([](const store::Database& database) { // equal replies are one job
    store::Query query(database, "SELECT count(*) AS n, (SELECT count(DISTINCT place) FROM "
                                 "judge_items) AS places FROM candidates");
    ASSERT_TRUE(query.next());
    EXPECT_EQ(query.integer("n"), 1);
    EXPECT_EQ(query.integer("places"), 600);
  });
  const auto stream =
      send("GET", "/v1/batches/" + accepted.at("batch").get<std::string>() + "/stream");
  for (const std::size_t lines : {256U, 512U, 601U}) {
    EXPECT_EQ(stream->lines.size(), lines);
    routes->tick();
  }
  EXPECT_TRUE(stream->has_ended);
}

TEST_F(JudgeRoutesTest, BoundsWhatTheWaitingRequestsOfAnOwnerKeep) {
  routes_setup.waiting_bytes = 200;
  restart();
  const auto wait = [&](const std::string& owner, const std::string& id) {
    return send("POST", "/v1/judge",
                {{"items", {item(id, kernel_saying("correct", 2, id))}}, {"wait_s", 600}}, owner);
  };
  EXPECT_EQ(status_of(wait("ann", "first")), 0);
  const auto second = wait("ann", "second");
  EXPECT_EQ(status_of(second), 202); // at once, with what there is
  EXPECT_EQ(body_of(second).at("jobs").at(0).at("id"), "second");
  EXPECT_EQ(status_of(wait("bob", "first")), 0);
}

TEST_F(JudgeRoutesTest, RefusesAStreamBeforeItBegins) {
  const json accepted = judge({item("a", kernel_saying("correct", 2))});
  const std::string batch = "/v1/batches/" + accepted.at("batch").get<std::string>();
  for (const char* query : {"?after=x", "?after=-1", "?after=1.5", "?afte=1", "?wait_s=1"}) {
    const auto stream = send("GET", batch + "/stream" + query);
    EXPECT_EQ(status_of(stream), 422) << query;
    EXPECT_FALSE(stream->has_begun) << query;
  }
}

TEST_F(JudgeRoutesTest, RefusesAnItemAndJudgesTheOthers) {
  const json accepted = judge({item("good", kernel_saying("correct", 2)),
                               {{"id", "other"}, {"task", "no_such_task"}, {"reply", "x"}},
                               {{"id", "taskless"}, {"reply", "x"}}});
  EXPECT_EQ(accepted.at("jobs").at(0).at("state"), "running");
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(accepted.at("jobs").at(i).at("state"), "refused") << i;
    EXPECT_NE(accepted.at("jobs").at(i).at("error"), "") << i;
  }
  EXPECT_EQ(accepted.at("items"), 1);
  EXPECT_EQ(status_of(send("POST", "/v1/judge", {{"items", {{{"task", "no"}}}}})), 422);
}

TEST_F(JudgeRoutesTest, ATextThatIsTooLongIsABadReply) {
  const std::string longest(kMaxItemBytes, 'x'), other = std::string(kMaxItemBytes, 'x') + "y";
  const auto long_reply = [](const char* id, const std::string& text) {
    return json{{"id", id}, {"task", "axpy"}, {"reply", text}};
  };
  const json accepted = judge({item("good", kernel_saying("correct", 2)),
                               item("kernel", kernel_saying("correct", 3) + longest),
                               long_reply("reply", kernel_saying("correct", 3) + longest),
                               long_reply("x", longest + "x"), long_reply("y", other)});
  EXPECT_EQ(accepted.at("items"), 5);
  EXPECT_EQ(accepted.at("answered"), 4);
  std::set<std::string> jobs;
  for (const json& result : accepted.at("results")) {
    EXPECT_EQ(result.at("verdict"), "bad_reply");
    EXPECT_EQ(result.at("reward"), 0);
    EXPECT_THAT(result.at("feedback").get<std::string>(), HasSubstr("it may have 262144"));
    jobs.insert(result.at("job").get<std::string>());
  }
  EXPECT_EQ(jobs.size(), 3U); // those of "kernel" and "reply" are one text
  EXPECT_EQ(evaluations->requests.size(), 1U);
}

TEST_F(JudgeRoutesTest, AFullQueueSaysWhenToComeAgain) {
  queue = 4;
  in_flight = 1;
  owners = 2;
  restart();
  const auto fill = [&](const std::string& owner, int count, int first) {
    std::vector<json> items;
    for (int i = first; i < first + count; ++i) {
      items.push_back(item(std::to_string(i), kernel_saying("correct", 2 + i)));
    }
    return send("POST", "/v1/judge", {{"items", items}}, owner);
  };
  EXPECT_EQ(status_of(fill("ann", 2, 0)), 202); // one runs, one waits
  EXPECT_EQ(status_of(fill("ann", 1, 2)), 202);
  const auto full = fill("ann", 1, 3);
  EXPECT_EQ(status_of(full), 429); // her half of the queue is full
  EXPECT_EQ(full->answer()->retry_after_s, 10);
  EXPECT_EQ(status_of(fill("ann", 2, 0)), 202); // what is known needs no room
  EXPECT_EQ(status_of(fill("ann", 3, 3)), 422); // never fits
  EXPECT_EQ(status_of(fill("bob", 2, 10)), 202);
  std::vector<std::string> order;
  while (!evaluations->requests.empty()) {
    const std::string& text = evaluations->requests[0].text;
    order.push_back(text.substr(text.find("speedup="), 10));
    evaluations->answer();
  }
  EXPECT_THAT(order, ::testing::ElementsAre("speedup=2 ", "speedup=12", "speedup=3 ", "speedup=13",
                                            "speedup=4 ")); // they take turns
  EXPECT_EQ(status_of(fill("ann", 1, 3)), 202);
}

TEST_F(JudgeRoutesTest, AnswersWhatWaitsWhenTheServerStops) {
  const auto held = send("POST", "/v1/judge",
                         {{"items", {item("a", kernel_saying("correct", 2))}}, {"wait_s", 60}});
  EXPECT_EQ(status_of(held), 0);
  routes->end();
  EXPECT_EQ(status_of(held), 202);
}

TEST_F(JudgeRoutesTest, ALargeBodyIsParsedBesideTheTurnsOfOthers) {
  take_turns_later();
  const std::string spaces(std::size_t{100} << 10U, ' ');
  json items;
  for (int i = 0; i < 8; ++i) {
    items.push_back(item(std::to_string(i), kernel_saying("correct", i) + spaces));
  }
  const auto accepted = send("POST", "/v1/judge", {{"items", items}});
  const auto refused = send("POST", "/v1/judge", {{"items", items}, {"unknown", 1}}, "bob");
  EXPECT_EQ(status_of(accepted), 0);
  EXPECT_EQ(turns.size(), 2U) << "one of each owner, before anything is parsed";
  while (!turns.empty()) {
    take_turn();
  }
  EXPECT_EQ(status_of(accepted), 202);
  EXPECT_EQ(body_of(accepted).at("jobs").size(), 8U);
  EXPECT_EQ(status_of(refused), 422);
}

TEST_F(JudgeRoutesTest, TheReadersOfAnAnswerGetItInTurns) {
  take_turns_later();
  const auto accepted =
      send("POST", "/v1/judge",
           {{"items",
             {item("a", kernel_saying("correct", 2)), item("b", kernel_saying("correct", 3))}}});
  take_turn();
  const std::string batch = body_of(accepted).at("batch");
  std::vector<std::shared_ptr<test::ExchangeFake>> streams(5);
  for (auto& stream : streams) {
    stream = send("GET", "/v1/batches/" + batch + "/stream");
  }
  const auto readers = [&] {
    return std::count_if(streams.begin(), streams.end(),
                         [](const auto& stream) { return !stream->lines.empty(); });
  };
  evaluations->answer();
  EXPECT_EQ(readers(), 0); // nothing but a mark, however many there are
  for (int turn = 1; turn <= 5; ++turn) {
    ASSERT_EQ(turns.size(), 1U) << "one piece of work for all of an owner's";
    EXPECT_EQ(turns.front().first, "ann");
    evaluations->answer_all(); // marks none twice
    take_turn();
    EXPECT_EQ(readers(), turn);
  }
  while (!turns.empty()) {
    take_turn();
  }
  for (const auto& stream : streams) {
    EXPECT_EQ(stream->lines.size(), 3U); // two results and the end
    EXPECT_TRUE(stream->has_ended);
  }
  EXPECT_EQ(renderings, 2);
}

TEST_F(JudgeRoutesTest, TheLateGetTheirAnswersInTurns) {
  routes_setup.heartbeat = std::chrono::milliseconds(1);
  take_turns_later();
  std::vector<std::shared_ptr<test::ExchangeFake>> streams(3);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i] = send("POST", "/v1/judge?stream=1",
                      {{"items", {item("a", kernel_saying("correct", 2))}}}, std::to_string(i));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  routes->tick();
  streams[2]->is_gone = true;
  EXPECT_EQ(turns.size(), 3U); // one of each owner
  routes->end();
  EXPECT_TRUE(streams[0]->has_ended);
  while (!turns.empty()) { // they find nobody any more
    take_turn();
  }
}

TEST_F(JudgeRoutesTest, OthersHaveTurnsWhileARequestIsTakenIn) {
  take_turns_later();
  std::vector<json> items;
  for (const char* id : {"a", "b", "c"}) {
    items.push_back(item(id, kernel_saying("correct", 2, id)));
  }
  const auto large = send("POST", "/v1/judge", {{"items", items}});
  EXPECT_EQ(status_of(large), 0);
  EXPECT_EQ(status_of(send("POST", "/v1/judge", {{"items", {items[0]}}}, "bob")), 202);
  while (!turns.empty()) {
    EXPECT_EQ(evaluations->requests.size(), 1U) << "nothing is stored before all is read";
    EXPECT_EQ(turns.front().first, "ann");
    take_turn();
  }
  EXPECT_EQ(status_of(large), 202);
  EXPECT_EQ(evaluations->requests.size(), 4U);
}

TEST_F(JudgeRoutesTest, AnAnswerThatComesWhileARequestIsTakenInIsKnown) {
  take_turns_later();
  const json a = item("a", kernel_saying("correct", 2)), b = item("b", kernel_saying("wrong", 0));
  judge({a});
  const auto again = send("POST", "/v1/judge", {{"items", {a, b}}});
  evaluations->answer();
  take_turn();
  EXPECT_EQ(body_of(again).at("jobs").at(0).at("state"), "done");
  EXPECT_EQ(evaluations->requests.size(), 1U); // of b alone
}

TEST_F(JudgeRoutesTest, ARequestThatIsTakenInInTurnsIsRefusedAsAnyOther) {
  queue = 2;
  in_flight = 1;
  owners = 2;
  take_turns_later();
  const auto fill = [&](int count) {
    std::vector<json> items;
    for (int i = 0; i < count; ++i) {
      items.push_back(item(std::to_string(i), kernel_saying("correct", 2, std::to_string(i))));
    }
    const auto filled = send("POST", "/v1/judge", {{"items", items}});
    while (!turns.empty()) {
      take_turn();
    }
    return filled;
  };
  EXPECT_EQ(status_of(fill(2)), 422); // more than her half of the queue
  EXPECT_EQ(status_of(fill(1)), 202);
  EXPECT_EQ(
      status_of(send("POST", "/v1/judge", {{"items", {item("x", kernel_saying("correct", 5))}}})),
      202);
  const auto full = fill(2);
  EXPECT_EQ(status_of(full), 429);
  EXPECT_GT(full->answer()->retry_after_s, 0);
}

TEST_F(JudgeRoutesTest, AClientThatGoesIsForgotten) {
  const auto gone = send("POST", "/v1/judge",
                         {{"items", {item("a", kernel_saying("correct", 2))}}, {"wait_s", 60}});
  gone->is_gone = true;
  routes->tick();
  EXPECT_EQ(gone.use_count(), 1);
  EXPECT_EQ(evaluations->requests.size(), 1U); // the job goes on
}

} // namespace
} // namespace winnow::harness
