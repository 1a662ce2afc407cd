// The runs that loops of other people declare.
#include "harness/serve/testing/judge_fixture.h"
#include "store/candidate_record.h"
#include "store/database.h"
#include "store/suite_calls.h"

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using test::kernel_saying;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct LoopRunsTest : test::JudgeFixture {
  static json declaration(const json& more = json::object()) {
    json run{{"name", "evo"}, {"strategy", "external:evo"}, {"model", "m-1"}, {"tasks", {"axpy"}}};
    run.update(more);
    return run;
  }
  json declare(const json& more = json::object(), const std::string& owner = "ann") const {
    return body_of(send("POST", "/v1/runs", declaration(more), owner));
  }
  json run(const std::string& owner = "ann", const std::string& name = "evo") const {
    return body_of(send("GET", "/v1/runs/" + name, nullptr, owner));
  }
  static json call(int number, const std::string& kernel, const json& more = json::object()) {
    json one = item("c" + std::to_string(number), kernel);
    one.update({{"run", "evo"}, {"call", number}});
    one.update(more);
    return one;
  }
  /// What the server says against the request; empty: nothing.
  std::string problem_of(const json& body, const std::string& target = "/v1/judge",
                         const std::string& owner = "ann") const {
    auto exchange = std::make_shared<test::ExchangeFake>("POST", target, body.dump());
    try {
      routes->answer(exchange, parse_target(target).value(), {owner, owner == kReader});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  std::string problem_of_call(const json& one) const { return problem_of({{"items", {one}}}); }
  std::vector<store::SuiteCall> calls(const std::string& name = "ann/evo") const {
    return store::suite_calls(*store, store->find_run(name).value().id);
  }
  std::int64_t count(const std::string& sql) const {
    return store->read([&](const store::Database& database) {
      store::Query query(database, "SELECT count(*) AS n FROM " + sql);
      query.next();
      return query.integer("n");
    });
  }
};

TEST_F(LoopRunsTest, CountAsASearchDoes) {
  EXPECT_EQ(declare().at("next_call"), 1);
  judge({call(1, kernel_saying("correct", 2),
              {{"tokens", {{"input", 900}, {"cached", 400}, {"output", 100}}}, {"dollars", 0.5}}),
         call(2, kernel_saying("correct", 3), {{"parents", {1}}})});
  evaluations->answer_all();
  const std::vector<store::SuiteCall> made = calls();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].model, "m-1");
  EXPECT_EQ(made[0].speedup, 2);
  EXPECT_EQ(made[0].prompt_tokens, 900);
  EXPECT_EQ(made[0].dollars, 0.5);
  EXPECT_TRUE(made[0].is_answered);
  EXPECT_TRUE(made[1].tokens_unknown);
  EXPECT_TRUE(made[1].price_unknown);
  EXPECT_THAT(store->candidate_record(made[1].candidate).parents, ElementsAre(made[0].candidate));
  const json shown = run();
  EXPECT_EQ(shown.at("calls"), 2);
  EXPECT_EQ(shown.at("next_call"), 3);
  EXPECT_EQ(shown.at("stated").at("tokens"), json({{"input", 900}, {"output", 100}}));
  EXPECT_EQ(shown.at("stated").at("dollars"), 0.5);
  EXPECT_EQ(shown.at("stated").at("calls_without_dollars"), 1);
  const json& best = shown.at("tasks").at(0).at("best");
  EXPECT_EQ(best.at("call"), 2);
  EXPECT_EQ(best.at("speedup"), 3);
  EXPECT_EQ(best.at("candidate"), "@" + std::to_string(made[1].candidate));
  EXPECT_EQ(count("candidates"), 2) << "none beside those of the run";
  EXPECT_EQ(count("events WHERE kind = 'judged' AND json_extract(detail, '$.key') = '2' "
                  "AND json_extract(detail, '$.elapsed_seconds') >= 0"),
            1);
}

TEST_F(LoopRunsTest, ACallThatIsSentAgainCountsOnce) {
  declare();
  const json first = call(1, kernel_saying("correct", 2), {{"dollars", 0.5}});
  judge({first});
  judge({first}); // before the answer
  restart();
  EXPECT_EQ(evaluations->requests.size(), 1U) << "the kernel waits for its verdict";
  evaluations->answer_all();
  EXPECT_TRUE(judge({first}).at("done"));
  send("POST", "/v1/judge", {{"items", {first}}, {"fresh", true}});
  evaluations->answer_all();
  EXPECT_EQ(declare().at("calls"), 1) << "declared again, it goes on";
  EXPECT_EQ(calls().size(), 1U);
  EXPECT_EQ(run().at("stated").at("dollars"), 0.5);
  EXPECT_THAT(problem_of_call(call(1, kernel_saying("correct", 7))),
              HasSubstr("call 1 of the run has another kernel"));
  EXPECT_EQ(calls().front().speedup, 2);
}

TEST_F(LoopRunsTest, AnEqualKernelIsJudgedOnceAndCountsForEachCall) {
  declare();
  declare({{"name", "other"}});
  const std::string kernel = kernel_saying("correct", 2);
  judge({call(1, kernel), call(2, kernel)});
  judge({call(1, kernel, {{"run", "other"}})});
  EXPECT_EQ(evaluations->requests.size(), 1U);
  evaluations->answer_all();
  EXPECT_TRUE(judge({call(2, kernel, {{"run", "other"}})}).at("done"));
  for (const char* name : {"ann/evo", "ann/other"}) {
    const std::vector<store::SuiteCall> made = calls(name);
    ASSERT_EQ(made.size(), 2U) << name;
    EXPECT_EQ(made[0].speedup, 2) << name;
    EXPECT_EQ(made[1].speedup, 2) << name;
    EXPECT_NE(made[0].candidate, made[1].candidate);
  }
  EXPECT_EQ(count("cases"), 4 * count("cases WHERE evaluation_id = 1"));
  EXPECT_EQ(count("leaderboard WHERE run_id = (SELECT id FROM runs WHERE name = 'ann/evo')"), 1)
      << "the board has the kernel once, by the run that was first";
}

TEST_F(LoopRunsTest, AFamilyIsCopiedWithItsChoices) {
  declare();
  const std::string kernel = test::family_saying(2);
  const json body{{"items", {call(1, kernel), call(2, kernel)}}, {"max_variants", 3}};
  send("POST", "/v1/judge", body);
  while (!evaluations->requests.empty()) {
    evaluations->answer();
  }
  const auto of = [&](std::int64_t candidate, const std::string& rest) {
    return count("evaluations WHERE candidate_id = " + std::to_string(candidate) + rest);
  };
  const std::vector<store::SuiteCall> made = calls();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_GT(of(made[0].candidate, " AND turns > 0"), 1);
  for (const char* rest : {"", " AND turns > 0", " AND superseded_by IS NOT NULL"}) {
    EXPECT_EQ(of(made[0].candidate, rest), of(made[1].candidate, rest)) << rest;
  }
  EXPECT_EQ(made[0].speedup, made[1].speedup);
}

TEST_F(LoopRunsTest, NothingIsLostOrDoubledWhereverTheServerDies) {
  declare();
  const json body{{"items",
                   {call(1, kernel_saying("correct", 2)),
                    call(2, kernel_saying("correct", 2), {{"parents", {1}}}),
                    call(3, kernel_saying("correct", 3))}}};
  bool has_died = true;
  for (int writes = 1; has_died; ++writes) { // it dies at each write, in turn
    has_died = false;
    int left = writes;
    store->after_each_write([&] {
      if (--left == 0) {
        has_died = true;
        throw std::runtime_error("killed");
      }
    });
    try {
      send("POST", "/v1/judge", body);
      evaluations->answer_all();
    } catch (const std::runtime_error&) { // as a client that gets no answer
    }
    restart();
    ASSERT_LT(writes, 1000);
  }
  send("POST", "/v1/judge", body);
  evaluations->answer_all();
  const std::vector<store::SuiteCall> made = calls();
  ASSERT_EQ(made.size(), 3U);
  for (const store::SuiteCall& one : made) {
    EXPECT_EQ(one.verdict, tasks::Verdict::Correct);
  }
  EXPECT_EQ(count("candidates"), 3);
  EXPECT_EQ(count("evaluations WHERE ordinal = 0"), 3);
  EXPECT_EQ(count("candidate_parents"), 1);
  EXPECT_EQ(count("events WHERE kind = 'judged'"), 3);
}

TEST_F(LoopRunsTest, ARunBelongsToItsOwner) {
  declare();
  judge({call(1, kernel_saying("correct", 2))});
  evaluations->answer_all();
  EXPECT_EQ(status_of(send("GET", "/v1/runs/evo", nullptr, "bob")), 404);
  EXPECT_EQ(status_of(send("GET", "/v1/runs/ann%2Fevo", nullptr, "bob")), 404);
  EXPECT_EQ(status_of(send("POST", "/v1/runs/evo/end", nullptr, "bob")), 404);
  EXPECT_EQ(run(kReader, "ann%2Fevo").at("calls"), 1);
  EXPECT_EQ(status_of(send("POST", "/v1/runs/ann%2Fevo/end", nullptr, kReader)), 404);
  EXPECT_THAT(problem_of({{"items", {call(1, kernel_saying("correct", 2))}}}, "/v1/judge", "bob"),
              HasSubstr("you have declared no run 'evo'"));
  EXPECT_EQ(declare({{"model", "m-2"}}, "bob").at("calls"), 0) << "the name is free for others";
  const std::string strange = std::to_string(calls().front().candidate);
  EXPECT_THAT(problem_of({{"items",
                           {call(1, kernel_saying("correct", 2), {{"parents", {"@" + strange}}})}}},
                         "/v1/judge", "bob"),
              HasSubstr("you have no kernel of axpy by the name '@" + strange + "'"));
  EXPECT_EQ(run("bob").at("calls"), 0) << "nothing of a refused request is stored";
}

TEST_F(LoopRunsTest, WithoutTokensTheNameIsPlain) {
  auto exchange = std::make_shared<test::ExchangeFake>("POST", "/v1/runs", declaration().dump());
  routes->answer(exchange, parse_target("/v1/runs").value(), {kLocalOwner, true});
  EXPECT_EQ(body_of(exchange).at("stored_as"), "evo");
  store->create_run("taken", {}, {});
  exchange = std::make_shared<test::ExchangeFake>("POST", "/v1/runs",
                                                  declaration({{"name", "taken"}}).dump());
  EXPECT_THROW(routes->answer(exchange, parse_target("/v1/runs").value(), {kLocalOwner, true}),
               UsageError);
}

TEST_F(LoopRunsTest, AnOwnerSeesItsCallsOnThePage) {
  declare();
  declare(json::object(), "bob");
  judge({call(1, kernel_saying("correct", 2), {{"dollars", 0.5}}),
         call(2, kernel_saying("correct", 2), {{"parents", {1}}})});
  judge({call(1, kernel_saying("correct", 2))}, "bob");
  evaluations->answer_all();
  store::RunStore own(directory.path() / "s.db", store::OpenMode::ReadOnly);
  for (const auto& [owner, number] : {std::pair("ann", 2), std::pair("bob", 1)}) {
    own.show_only(owner);
    own.read([&, number = number](const store::Database& database) {
      for (const char* table : {"model_calls", "candidate_costs", "candidates", "events"}) {
        store::Query query(database, std::string("SELECT count(*) AS n FROM ") + table);
        query.next();
        EXPECT_EQ(query.integer("n"), number) << table;
      }
      store::Query parents(database, "SELECT count(*) AS n FROM candidate_parents");
      parents.next();
      EXPECT_EQ(parents.integer("n"), number - 1);
    });
  }
}

TEST_F(LoopRunsTest, ParentsAreCallsJobsOrCandidates) {
  declare();
  const std::string job =
      judge({item("x", kernel_saying("correct", 2))}).at("jobs").at(0).at("job");
  evaluations->answer_all();
  judge({call(1, kernel_saying("correct", 3), {{"parents", {job}}}),
         call(2, kernel_saying("wrong", 1), {{"parents", {1, "@1", job, 1}}})});
  EXPECT_THAT(store->candidate_record(calls().at(1).candidate).parents,
              ElementsAre(calls().at(0).candidate, 1)); // @1 is the job's
  EXPECT_THAT(problem_of_call(call(3, kernel_saying("correct", 4), {{"parents", {9}}})),
              HasSubstr("by the name '9'"));
}

TEST_F(LoopRunsTest, AReplyIsKeptAndABadOneCounts) {
  declare();
  json reply = call(1, "");
  reply.erase("kernel");
  reply["reply"] = "I cannot do this.";
  EXPECT_TRUE(judge({reply}).at("done"));
  EXPECT_EQ(calls().front().verdict, tasks::Verdict::BadReply);
  EXPECT_EQ(store->candidate_state(calls().front().candidate).reply, "I cannot do this.");
}

TEST_F(LoopRunsTest, AFaultIsMendedBySendingTheCallAgain) {
  declare();
  const json one = call(1, kernel_saying("correct", 2));
  judge({one});
  evaluations->fail("the device was lost");
  EXPECT_EQ(run().at("tasks").at(0).at("not_judged"), 1);
  send("POST", "/v1/judge", {{"items", {one}}, {"fresh", true}});
  evaluations->answer_all();
  EXPECT_EQ(run().at("tasks").at(0).at("not_judged"), 0);
  EXPECT_EQ(calls().front().speedup, 2);
}

TEST_F(LoopRunsTest, EndsAndTakesNoMoreCalls) {
  declare();
  judge({call(1, kernel_saying("correct", 2))});
  evaluations->answer_all();
  const json ended = body_of(send("POST", "/v1/runs/evo/end"));
  EXPECT_EQ(ended.at("status"), "finished");
  EXPECT_EQ(body_of(send("POST", "/v1/runs/evo/end")), ended);
  EXPECT_THAT(problem_of_call(call(2, kernel_saying("correct", 3))), HasSubstr("has ended"));
  EXPECT_TRUE(judge({call(1, kernel_saying("correct", 2))}).at("done"))
      << "known calls are answered";
}

TEST_F(LoopRunsTest, IndependentSamplesHaveNoParentsAndABound) {
  declare({{"samples", 2}});
  judge({call(1, kernel_saying("correct", 2)), call(2, kernel_saying("wrong", 1))});
  EXPECT_THAT(problem_of_call(call(3, kernel_saying("correct", 3))),
              HasSubstr("has its 2 samples"));
  declare({{"name", "other"}, {"samples", 2}});
  EXPECT_THAT(problem_of_call(
                  call(1, kernel_saying("correct", 3), {{"run", "other"}, {"parents", {"@1"}}})),
              HasSubstr("independent samples"));
  const auto config = json::parse(store->find_run("ann/evo").value().config);
  EXPECT_EQ(config.at("run").at("proposals"), 2);
}

TEST_F(LoopRunsTest, AMisspeltOrUnboundedMemberIsRefused) {
  declare();
  const std::string kernel = kernel_saying("correct", 2);
  for (const auto& [more, why] : std::vector<std::pair<json, std::string>>{
           {{{"token", 1}}, "items[0].token is unknown; did you mean 'tokens'"},
           {{{"call", -1}}, "items[0].call is no whole number from 0"},
           {{{"call", nullptr}}, "items[0].call is missing"},
           {{{"run", nullptr}}, "items[0].call is there, and run is not"},
           {{{"run", "../x"}}, "items[0].run is no name"},
           {{{"tokens", 5}}, "items[0].tokens is no object"},
           {{{"tokens", {{"inputs", 5}}}}, "tokens.inputs is unknown; did you mean 'input'"},
           {{{"tokens", {{"input", 5}, {"cached", 6}}}}, "items[0].tokens.cached"},
           {{{"tokens", {{"output", 2e18}}}}, "items[0].tokens.output"},
           {{{"dollars", -1}}, "items[0].dollars is no number from 0"},
           {{{"dollars", 1e300}}, "items[0].dollars is no number from 0"},
           {{{"parents", {"evo"}}}, "items[0].parents has what is no earlier kernel"},
           {{{"parents", {1}}}, "items[0].parents has what is no earlier kernel"},
           {{{"parents", json(std::vector<int>(17, 2))}}, "no list of up to 16"},
           {{{"run", "other"}}, "you have declared no run 'other'"}}) {
    EXPECT_THAT(problem_of_call(call(1, kernel, more)), HasSubstr(why)) << more;
  }
  EXPECT_THAT(problem_of({{"items", {call(1, kernel)}}, {"depth", "correct"}}),
              HasSubstr("needs the depth 'full'"));
  EXPECT_EQ(run().at("calls"), 0);
}

TEST_F(LoopRunsTest, ADeclarationIsChecked) {
  declare();
  for (const auto& [more, why] : std::vector<std::pair<json, std::string>>{
           {{{"strategy", "best-of-n"}}, "strategy does not begin with 'external:'"},
           {{{"strategy", "external:"}}, "strategy is no name"},
           {{{"name", "7"}}, "name is no name of a letter"},
           {{{"name", "a/b"}}, "name is no name of a letter"},
           {{{"model", ""}}, "model is no text"},
           {{{"tasks", json::array()}}, "tasks is no list"},
           {{{"tasks", {"axpy", "axpy"}}}, "names a task twice"},
           {{{"tasks", {"axpi"}}}, "there is no task 'axpi'"},
           {{{"samples", 0}}, "samples is no whole number from 1"},
           {{{"taks", 1}}, "taks is unknown; did you mean 'tasks'"},
           {{{"model", "m-2"}}, "you have declared another run 'evo'"}}) {
    EXPECT_THAT(problem_of(declaration(more), "/v1/runs"), HasSubstr(why)) << more;
  }
  EXPECT_THAT(problem_of({{"model", std::string(300'000, 'm')}}, "/v1/runs"), HasSubstr("bytes"));
  EXPECT_EQ(count("declared_runs"), 1);
}

struct LoopBytesTest : LoopRunsTest {
  LoopBytesTest() { owner_bytes = 150'000; }
};

TEST_F(LoopBytesTest, RunsAndCallsCount) {
  const auto another = [this](int number) {
    return problem_of(declaration({{"name", "r" + std::to_string(number)}}), "/v1/runs");
  };
  int declared = 0;
  while (declared < 20 && another(declared).empty()) {
    ++declared;
  }
  EXPECT_EQ(declared, 9);
  restart(); // the store knows it
  EXPECT_THAT(problem_of(declaration({{"name", "more"}}), "/v1/runs"),
              HasSubstr("your token has stored"));
  EXPECT_EQ(problem_of(declaration(), "/v1/runs", "bob"), "");
}

} // namespace
} // namespace winnow::harness
