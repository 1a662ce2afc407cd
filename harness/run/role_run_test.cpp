// Runs with roles, whose models reply as they would in a recording: by the key of the call.
#include "base/error.h"
#include "harness/report/role_report.h"
#include "harness/run/testing/run_loop_fixture.h"
#include "search/counsel.h"
#include "store/advice.h"
#include "tasks/catalogue.h"
#include "tests/support/json_page.h"

#include <atomic>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using End = RunOutcome::End;

constexpr const char* kJudgeReply =
    R"(It is slow. {"bottleneck": "latency", "evidence": ["time_us"], "change": "fuse the loops",
    "effects": [{"metric": "time_us", "direction": "down", "percent": 30}]})";
constexpr const char* kAccepts = R"({"verdict": "accept", "findings": []})";
constexpr const char* kRejects = R"({"verdict": "reject",
    "findings": [{"line": 4, "reason": "memory", "text": "reads past the end"}]})";

bool is_call_of(const ModelRequest& request, const std::string& op) {
  return request.key.find("/" + op + "/") != std::string::npos;
}

int call_number(const ModelRequest& request) {
  return std::stoi(request.key.substr(request.key.rfind('/') + 1));
}

/// Every third kernel is wrong; the others become faster. The verifier rejects every third kernel
/// that it sees.
ModelReply reply_of_a_role_or_kernel(const ModelRequest& request) {
  const int number = call_number(request);
  if (is_call_of(request, "judge")) {
    return test::ok_reply(number == 2 ? "I do not know." : kJudgeReply);
  }
  if (is_call_of(request, "verify")) {
    return test::ok_reply(number % 3 == 1 ? kRejects : kAccepts);
  }
  if (is_call_of(request, "meta")) {
    return test::ok_reply(R"({"words": "Use float4 loads."})");
  }
  return test::ok_reply(number % 3 == 2 ? test::reply_text("wrong", 0)
                                        : test::reply_text("correct", 1.5 + 0.3 * number));
}

/// Counts the kernels that reach the device.
class CountingLane : public test::FakeLane {
public:
  explicit CountingLane(std::atomic<int>& count) : count_(count) {}
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    ++count_;
    return FakeLane::evaluate(request, stop);
  }

private:
  std::atomic<int>& count_;
};

class RoleRun : public test::RunLoopTest {
protected:
  RoleRun() {
    tasks_.resize(1);
    config_.proposals = 12;
    config_.endpoint.parallel = 1;
    config_.roles = {"judge", "verifier", "meta-prompter", "memory"};
    lane_ = [this] { return std::make_unique<CountingLane>(measured_); };
  }

  RunOutcome run_to_its_end() {
    ScriptedModel endpoint(reply_of_a_role_or_kernel);
    return session(endpoint);
  }

  /// Everything about roles in which a resumed run must equal a run that was never stopped.
  std::string account_of_roles() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    nlohmann::json document = roles_json(store, *store.find_run(run_name_));
    for (nlohmann::json& moment : document["switched_off"]) {
      moment.erase("at");
    }
    return document.dump(1);
  }

  std::vector<std::string> event_kinds() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    std::vector<std::string> kinds;
    for (const store::EventRow& event : store.events(store.find_run(run_name_)->id)) {
      kinds.push_back(event.kind);
    }
    return kinds;
  }

  std::map<std::string, std::string> requests() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    std::map<std::string, std::string> texts;
    for (const store::ModelCallRow& call : store.finished_calls(store.find_run(run_name_)->id)) {
      texts[call.key] = call.request;
    }
    return texts;
  }

  /// Stops the run after every `stride`th write, and lets it go on.
  void resume_after_crashes(std::int64_t stride) {
    std::int64_t writes = 0;
    {
      ScriptedModel endpoint(reply_of_a_role_or_kernel);
      ASSERT_EQ(session(endpoint, [&] { ++writes; }).end, End::Finished);
    }
    const std::string expected = account();
    const std::string expected_of_roles = account_of_roles();
    const int decisions = recompute_decisions();
    ASSERT_GE(decisions, 3 * config_.proposals) << "of the judge, the verifier and kernels";
    for (std::int64_t crash_at = 1; crash_at < writes; crash_at += stride) {
      SCOPED_TRACE(fmt::format("after write {}", crash_at));
      forget();
      {
        ScriptedModel endpoint(reply_of_a_role_or_kernel);
        crash_after(crash_at, endpoint);
      }
      const std::set<std::string> paid = recorded_keys();
      ScriptedModel endpoint(reply_of_a_role_or_kernel);
      ASSERT_EQ(session(endpoint).end, End::Finished);
      ASSERT_EQ(account(), expected);
      ASSERT_EQ(account_of_roles(), expected_of_roles);
      ASSERT_EQ(recompute_decisions(), decisions);
      for (const std::string& key : endpoint.asked()) {
        EXPECT_FALSE(paid.contains(key)) << key << " was paid twice";
      }
    }
  }

  std::atomic<int> measured_{0};
};

TEST_F(RoleRun, PromptsShowWhatRolesSay) {
  EXPECT_EQ(run_to_its_end().end, End::Finished);
  const std::map<std::string, std::string> asked = requests();
  EXPECT_THAT(asked.at("a/judge/0"), HasSubstr("facts: time_us = 1"));
  EXPECT_THAT(asked.at("a/judge/0"), Not(HasSubstr("record: ")));
  EXPECT_THAT(asked.at("a/judge/1"), HasSubstr("right in 1 of 1 (100 %"));
  EXPECT_THAT(asked.at("a/0/0"), HasSubstr("advice: Bottleneck: latency"));
  EXPECT_THAT(asked.at("a/verify/7"), HasSubstr("files that you accepted"));
  EXPECT_THAT(asked.at("a/meta/0"), HasSubstr("(no advice)"));
  EXPECT_THAT(asked.at("a/0/8"), HasSubstr("guide: Use float4 loads."));
}

TEST_F(RoleRun, AKernelThatTheVerifierRejectsDoesNotReachTheDevice) {
  config_.roles = {"verifier"};
  EXPECT_EQ(run_to_its_end().end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const search::Settings settings = search_settings(config_, tasks_[0]);
  int refused = 0;
  for (const store::CandidateState& candidate : store.candidates(1)) {
    const auto advice = store.advice_about(candidate.row.id, "verifier");
    const bool rejected = advice && advice->content.find("reject") != std::string::npos;
    const bool is_refused = candidate.best->verdict == tasks::Verdict::Refused;
    EXPECT_EQ(is_refused, rejected && !search::runs_anyway(settings, candidate.row.id));
    if (is_refused) {
      ++refused;
      EXPECT_THAT(candidate.best->detail, HasSubstr("line 4 (memory): reads past the end"));
    }
  }
  EXPECT_GE(refused, 2);
  EXPECT_EQ(measured_, 13 - refused) << "the baseline and the kernels that were not refused";
  const store::VerifierRecord record = store::verifier_record(store, 1);
  EXPECT_EQ(record.rejected, 3) << "of eight answers; then the verifier is switched off";
  EXPECT_EQ(record.accepted_correct + record.accepted_failed, 5);
}

TEST_F(RoleRun, AReplyOfNoUseIsAuditedAndHoldsNothingBack) {
  EXPECT_EQ(run_to_its_end().end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const auto advice = store.find_advice(1, "a/judge/2");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->content, "");
  EXPECT_THAT(advice->problem, HasSubstr("no JSON object"));
  EXPECT_THAT(said_, HasSubstr("a/judge/2: the reply is of no use: the reply has no JSON object"));
}

TEST_F(RoleRun, EveryCrashResumesToTheSameEnd) {
  config_.proposals = 3;
  resume_after_crashes(1);
}

TEST_F(RoleRun, ACrashWithVersionsOfTheAdviceResumesToTheSameEnd) {
  config_.proposals = 10;
  resume_after_crashes(37);
}

TEST_F(RoleRun, ASigkillWhileARoleThinksLosesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    ScriptedModel endpoint(reply_of_a_role_or_kernel);
    endpoint.on_ask = [](const std::string& key) {
      if (key == "a/verify/4") {
        raise(SIGKILL);
      }
    };
    session(endpoint);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::set<std::string> paid = recorded_keys();
  ScriptedModel endpoint(reply_of_a_role_or_kernel);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  for (const std::string& key : endpoint.asked()) {
    EXPECT_FALSE(paid.contains(key)) << key << " was paid twice";
  }
  EXPECT_GE(recompute_decisions(), 3 * config_.proposals);
}

TEST_F(RoleRun, TellsOnceThatARoleIsSwitchedOff) {
  config_.roles = {"verifier"};
  config_.proposals = 14;
  {
    ScriptedModel endpoint(reply_of_a_role_or_kernel);
    EXPECT_EQ(session(endpoint).end, End::Finished);
  }
  EXPECT_THAT(said_, HasSubstr("a: the verifier is switched off: 8 answers have cost"));
  EXPECT_FALSE(recorded_keys().contains("a/verify/9"));
  ScriptedModel endpoint(reply_of_a_role_or_kernel);
  config_.proposals = 16; // a longer run in the same store goes on without the verifier
  session(endpoint);
  const std::vector<std::string> kinds = event_kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "role switched off"), 1);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  EXPECT_THAT(roles_text(roles_json(store, *store.find_run(run_name_))),
              HasSubstr("a: the verifier was switched off after 8 calls: 8 answers"));
}

TEST_F(RoleRun, ARecordingWithoutTheRolesRepliesIsEnough) {
  ScriptedModel endpoint([](const ModelRequest& request) {
    const bool is_of_a_role = std::isdigit(request.key.at(2)) == 0; // "a/judge/0"
    ModelReply exhausted;
    exhausted.status = ModelReply::Status::Exhausted;
    return is_of_a_role ? exhausted : reply_of_a_role_or_kernel(request);
  });
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(measured_, 13);
}

TEST_F(RoleRun, ALimitSkipsARoleAndNotTheVerdict) {
  config_.roles = {"verifier"};
  config_.limits.calls = 3; // kernel, verifier, kernel
  EXPECT_EQ(run_to_its_end().end, End::BudgetSpent);
  EXPECT_EQ(recorded_keys(), (std::set<std::string>{"a/0/0", "a/0/1", "a/verify/0"}));
  EXPECT_EQ(measured_, 3) << "the second kernel runs without the verifier";
  const std::vector<std::string> kinds = event_kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "role skipped"), 1);
  config_.limits.calls = 0;
  EXPECT_EQ(run_to_its_end().end, End::Finished);
  EXPECT_FALSE(recorded_keys().contains("a/verify/1")) << "nothing waits for it any more";
  recompute_decisions();
}

TEST_F(RoleRun, TheVerifierComesBeforeKernelsOfOtherTasks) {
  tasks_.push_back(test::small_task("b"));
  config_.strategy = "best-of-n";
  config_.roles = {"verifier"};
  config_.proposals = 4;
  ScriptedModel endpoint(reply_of_a_role_or_kernel);
  ASSERT_EQ(session(endpoint).end, End::Finished);
  const std::vector<std::string> asked = endpoint.asked();
  ASSERT_EQ(asked.size(), 16U);
  for (std::size_t i = 0; i < asked.size(); i += 2) {
    EXPECT_THAT(asked[i + 1], testing::StartsWith(asked[i].substr(0, 2) + "verify/"))
        << "after " << asked[i];
  }
}

TEST_F(RoleRun, LimitsCountTheCallsOfRoles) {
  config_.limits.dollars = 0.085; // eight calls of a cent
  EXPECT_EQ(run_to_its_end().end, End::BudgetSpent);
  EXPECT_LE(recorded_keys().size(), 9U);
}

TEST_F(RoleRun, LessonsComeFromAnEarlierRunOfAnotherTask) {
  tasks_ = {test::small_task("b")};
  config_.roles = std::vector<std::string>{};
  ScriptedModel first([](const ModelRequest& request) {
    return test::ok_reply(test::reply_text("correct", 2.0 + call_number(request)));
  });
  ASSERT_EQ(session(first).end, End::Finished);
  tasks_ = {test::small_task("a")};
  run_name_ = "second";
  config_.roles = {"memory"};
  config_.proposals = 4;
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  int with = 0;
  for (const auto& [key, request] : requests()) {
    with += request.find("lessons: 2.00x (") != std::string::npos ? 1 : 0;
    EXPECT_EQ(request.find("lessons: ") != std::string::npos,
              request.find("on b, from a kernel with: plain. Change: Here it is.") !=
                  std::string::npos)
        << key;
  }
  EXPECT_GE(with, 1);
  EXPECT_LT(with, 4) << "a part of the calls has no lessons, for comparison";
  EXPECT_THAT(account_of_roles(), HasSubstr("\"without\""));
}

TEST_F(RoleRun, AnExemplarIsTheKernelOfAnotherTask) {
  tasks_ = {test::small_task("a")};
  tasks_.front().folder = tasks::find_catalogue() / "stencil/jacobi";
  config_.roles = {"exemplar"};
  config_.proposals = 8;
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  int with = 0;
  for (const auto& [key, request] : requests()) {
    with += request.find("exemplar: lbm_d2q9") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(with, 1);
  EXPECT_LT(with, 8) << "a part of the calls has no exemplar, for comparison";
  EXPECT_THAT(account_of_roles(), HasSubstr("\"exemplar\""));
}

TEST_F(RoleRun, ATaskAloneInItsCategoryHasNoExemplar) {
  config_.roles = {"exemplar"};
  config_.proposals = 4;
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  for (const auto& [key, request] : requests()) {
    EXPECT_EQ(request.find("exemplar: "), std::string::npos) << key;
  }
}

TEST_F(RoleRun, ARoleAsksAModelOfItsOwn) {
  config_.roles = {"judge", "verifier"};
  config_.role_models = {{"judge", "wise"}};
  for (const char* name : {"coder", "wise"}) {
    ModelArm& model = config_.models.emplace_back();
    model.name = name;
    model.endpoint = config_.endpoint;
    model.endpoint.model = std::string(name) + "-model";
  }
  ScriptedModel coder(reply_of_a_role_or_kernel), wise(reply_of_a_role_or_kernel);
  EXPECT_EQ(session({{"coder", config_.models[0].endpoint, coder, {}},
                     {"wise", config_.models[1].endpoint, wise, {}}})
                .end,
            End::Finished);
  for (const std::string& key : wise.asked()) {
    EXPECT_THAT(key, HasSubstr("/judge/"));
  }
  EXPECT_FALSE(wise.asked().empty());
  for (const std::string& key : coder.asked()) {
    EXPECT_THAT(key, Not(HasSubstr("/judge/")));
  }
  recompute_decisions();
}

TEST_F(RoleRun, TheJsonPageListsEveryFieldOfRoles) {
  config_.proposals = 30;
  config_.strategy = "best-of-n";
  EXPECT_EQ(run_to_its_end().end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const nlohmann::json document = roles_json(store, *store.find_run(run_name_));
  EXPECT_EQ(document["roles"].size(), 4U);
  EXPECT_EQ(document["switched_off"].size(), 1U);
  EXPECT_THAT(::winnow::test::JsonPage(WINNOW_SOURCE_DIR).missing(document), testing::IsEmpty());
}

TEST(RoleReport, EstimatesRecallWithThePrecisionOfAudits) {
  TemporaryDirectory directory("role-report-test");
  store::RunStore store(directory.path() / "store.db", store::RunStore::Mode::ReadWrite);
  const store::RowId run = store.create_run("run", nlohmann::json::object(), {});
  const store::RowId task = store.add_task(test::small_task("a"));
  const auto add = [&](int number, bool rejects, std::optional<bool> failed) {
    const std::string key = fmt::format("a/verify/{}", number);
    store.begin_call(run, task, key, "chat", "m", nlohmann::json::object());
    store::CandidateRow row;
    row.call_key = fmt::format("a/0/{}", number);
    row.origin = "model";
    row.text = key;
    const store::RowId candidate = store.add_candidate(run, task, row);
    store.add_advice(run, {key, "verifier", candidate, rejects ? kRejects : kAccepts, ""});
    if (failed) {
      store.add_advice_scores(
          run, key,
          {{candidate, "fails", rejects ? 1.0 : 0.0, *failed ? 1.0 : 0.0, rejects == *failed}});
    }
  };
  for (int i = 0; i < 20; ++i) {
    add(i, true, i < 4 ? std::optional(i < 3) : std::nullopt); // 4 audits, of which 3 fail
  }
  for (int i = 20; i < 30; ++i) {
    add(i, false, i < 25); // 5 fail
  }
  const nlohmann::json document = roles_json(store, *store.find_run("run"));
  const nlohmann::json& answers = document["roles"][0]["answers"];
  EXPECT_EQ(answers["precision"]["value"], 0.75);
  EXPECT_NEAR(answers["precision"]["low"].get<double>(), 0.3006, 1e-4);
  EXPECT_EQ(answers["recall"]["value"], 0.75) << "15 of the 20 rejected, and 5 accepted ones fail";
  EXPECT_NEAR(answers["recall"]["low"].get<double>(), 0.3006 * 20 / (0.3006 * 20 + 5), 1e-4);
  EXPECT_THAT(roles_text(document), HasSubstr("precision 75 % (30 to 95 %), recall 75 %"));
}

TEST_F(RoleRun, SeveralCallsAtATimeEndAsTheLogSays) {
  config_.strategy = "archive";
  config_.endpoint.parallel = 4;
  config_.proposals = 40; // on a busy machine many kernels are judged before a forecast comes
  EXPECT_EQ(run_to_its_end().end, End::Finished);
  EXPECT_GE(recompute_decisions(), 100) << "more than those of the calls and their evaluations";
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const std::vector<store::RoleTotals> totals = store::role_totals(store, 1);
  ASSERT_EQ(totals.size(), 3U);
  EXPECT_EQ(totals[0].role, "judge");
  EXPECT_GT(totals[0].scored, 5);
}

} // namespace
} // namespace winnow::harness
