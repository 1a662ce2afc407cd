// Answers of a worker that is quarantined after it gave them.
#include "harness/serve/testing/judge_fixture.h"
#include "store/worker_evaluations.h"

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using test::kernel_saying;
using ::testing::HasSubstr;

struct WithdrawalTest : test::JudgeFixture {
  /// The answers to come are of this worker.
  void answer_as(const std::string& worker) const {
    evaluations->worker = worker;
    evaluations->answer_all();
  }
  std::string path_of(const json& accepted) const {
    return "/v1/batches/" + accepted.at("batch").get<std::string>();
  }
  std::string metrics() const { return send("GET", "/metrics")->answer()->body; }
};

TEST_F(WithdrawalTest, WhatTheWorkerJudgedIsJudgedAgainBeforeItIsHandedOut) {
  const json accepted =
      judge({item("a", kernel_saying("correct", 2)), item("b", kernel_saying("correct", 3))});
  evaluations->worker = "liar";
  evaluations->answer();
  answer_as("honest");
  evaluations->quarantine("liar");
  EXPECT_TRUE(evaluations->requests.empty()) << "nobody waits";
  const auto page = send("GET", path_of(accepted) + "?after=2&wait_s=60");
  ASSERT_EQ(evaluations->requests.size(), 1U) << "somebody waits";
  EXPECT_EQ(status_of(page), 0);
  answer_as("honest");
  const json news = body_of(page);
  EXPECT_TRUE(news.at("done"));
  EXPECT_EQ(news.at("next"), 3);
  EXPECT_EQ(news.at("withdrawn"), 1);
  ASSERT_EQ(news.at("results").size(), 1U);
  EXPECT_EQ(news.at("results").at(0).at("id"), "a");
  EXPECT_EQ(news.at("results").at(0).at("reward"), 2.3);
  EXPECT_THAT(news.at("results").at(0).at("withdrawn"), HasSubstr("worker 'liar'"));
  const json all = body_of(send("GET", path_of(accepted)));
  ASSERT_EQ(all.at("results").size(), 2U);
  EXPECT_TRUE(all.at("results").at(0).at("withdrawn").is_null());
}

TEST_F(WithdrawalTest, TheSameKernelIsNotAnsweredFromTheStore) {
  const json kernel = item("a", kernel_saying("correct", 2));
  judge({kernel});
  answer_as("liar");
  evaluations->quarantine("liar");
  const json silent = {{"items", {{{"task", "axpy"}, {"reply", "no kernel"}}}}};
  EXPECT_EQ(body_of(send("POST", "/v1/judge", silent)).at("results").at(0).at("reward"), 0);
  const json again = judge({kernel}, "bob");
  EXPECT_FALSE(again.at("done"));
  ASSERT_EQ(evaluations->requests.size(), 1U);
  answer_as("honest");
  const json known = judge({kernel}, "bob");
  EXPECT_TRUE(known.at("results").at(0).at("cached"));
  EXPECT_TRUE(known.at("results").at(0).at("withdrawn").is_null());
}

TEST_F(WithdrawalTest, TheJobSaysThatItsAnswerDoesNotCount) {
  const std::string job =
      judge({item("a", kernel_saying("correct", 2))}).at("jobs").at(0).at("job");
  answer_as("liar");
  EXPECT_TRUE(body_of(send("GET", "/v1/jobs/" + job)).at("withdrawn").is_null());
  evaluations->quarantine("liar");
  const json open = body_of(send("GET", "/v1/jobs/" + job));
  EXPECT_EQ(open.at("state"), "running");
  EXPECT_THAT(open.at("withdrawn"), HasSubstr("worker 'liar'"));
  EXPECT_THAT(metrics(), HasSubstr("winnow_answers_withdrawn_total 1\n"));
  EXPECT_EQ(body_of(send("GET", "/v1/health")).at("withdrawn"), 1);
  answer_as("honest");
  const json result = body_of(send("GET", "/v1/jobs/" + job));
  EXPECT_EQ(result.at("state"), "done");
  EXPECT_THAT(result.at("withdrawn"), HasSubstr("worker 'liar'"));
}

TEST_F(WithdrawalTest, AStreamGetsTheNewAnswer) {
  const json accepted =
      judge({item("a", kernel_saying("correct", 2)), item("b", kernel_saying("correct", 3))});
  const auto stream = send("GET", path_of(accepted) + "/stream");
  evaluations->worker = "liar";
  evaluations->answer();
  evaluations->quarantine("liar");
  ASSERT_EQ(evaluations->requests.size(), 2U) << "the stream waits for both";
  EXPECT_FALSE(stream->has_ended);
  answer_as("honest");
  ASSERT_EQ(stream->lines.size(), 4U);
  EXPECT_EQ(json::parse(stream->lines[0]).at("id"), "a");
  EXPECT_EQ(json::parse(stream->lines[1]).at("id"), "b");
  EXPECT_THAT(json::parse(stream->lines[2]).at("withdrawn"), HasSubstr("worker 'liar'"));
  EXPECT_TRUE(stream->has_ended);
}

TEST_F(WithdrawalTest, AJudgementThatIsNotOverBeginsAgain) {
  send("POST", "/v1/judge", {{"items", {item("a", test::family_saying(2))}}, {"max_variants", 3}});
  evaluations->worker = "liar";
  evaluations->answer(); // the default; heats follow
  evaluations->quarantine("liar");
  answer_as("honest");
  const store::RowId run = store->find_run("serve")->id;
  EXPECT_TRUE(store::evaluations_of_worker(*store, run, "liar").empty());
  EXPECT_EQ(store::evaluations_of_worker(*store, run, "honest").size(), 1U);
}

TEST_F(WithdrawalTest, ARestartKeepsWhatIsWithdrawn) {
  const json accepted = judge({item("a", kernel_saying("correct", 2))});
  answer_as("liar");
  evaluations->quarantine("liar");
  restart();
  EXPECT_TRUE(evaluations->requests.empty()) << "nobody waits";
  evaluations->quarantine("liar"); // as at each start
  const auto page = send("GET", path_of(accepted) + "?wait_s=60");
  ASSERT_EQ(evaluations->requests.size(), 1U);
  answer_as("honest");
  EXPECT_EQ(body_of(page).at("results").at(0).at("reward"), 2.3);
}

TEST_F(WithdrawalTest, AnItemCanBeWithdrawnTwice) {
  const json accepted = judge({item("a", kernel_saying("correct", 2))});
  for (const char* worker : {"liar", "another liar"}) {
    answer_as(worker);
    evaluations->quarantine(worker);
    send("GET", path_of(accepted));
  }
  answer_as("honest");
  const json page = body_of(send("GET", path_of(accepted)));
  EXPECT_TRUE(page.at("done"));
  EXPECT_EQ(page.at("next"), 3);
  EXPECT_THAT(page.at("results").at(0).at("withdrawn"), HasSubstr("'another liar'"));
}

} // namespace
} // namespace winnow::harness
