#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/ordered_results.h"
#include "harness/client/judge_server.h"
#include "harness/client/server_devices.h"
#include "harness/client/server_evaluations.h"
#include "harness/run/sessions/run_judge.h"
#include "harness/serve/testing/evaluations_fake.h"
#include "store/test_store.h"
#include "store/testing/new_store.h"
#include "tasks/catalogue.h"

#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using test::kernel_saying;
using testing::HasSubstr;

struct RunJudgeTest : testing::Test {
  RunJudgeTest() {
    store::testing::put_new_store(store_path);
    store::RunStore writable(store_path, store::RunStore::Mode::ReadWrite);
    writable.create_run("r", nlohmann::json::object(), nlohmann::json::object());
    begin();
  }
  void begin(const std::string& run = "r") {
    RunJudge::Setup setup;
    setup.store = store_path;
    setup.run = run;
    setup.tasks = {task};
    setup.evaluations = [this](evaluators::TakeResult done) {
      return std::make_unique<test::DelayedEvaluations>(device, std::move(done));
    };
    setup.device.kind = "cpu";
    setup.device.name = "fake device";
    setup.environment = nlohmann::json::object();
    judge.emplace();
    judge->begin(std::move(setup));
  }
  /// Opens a session and asks it about kernels, one after the other.
  agents::SessionPass open(const std::string& session, int evaluations = 20) {
    const fs::path workspace = folder.path() / session;
    fs::create_directories(workspace);
    fs::remove_all(workspace / ".judge");
    return judge->open(session, "axpy", workspace, {evaluations, std::chrono::seconds(60)});
  }
  static evaluators::EvaluationResult ask(const agents::SessionPass& pass,
                                          const std::string& text) {
    JudgeServer server({pass.server, ""});
    const auto remarks = std::make_shared<ServerRemarks>();
    const auto pool = server_devices({pass.server, ""}, served_task(server, "axpy"), remarks);
    evaluators::OneByOne evaluations(pool->factory());
    evaluators::EvaluationRequest request;
    request.task = std::make_shared<const tasks::Task>();
    request.text = text;
    request.protocol.counters = evaluators::Counting::Off;
    return evaluations.evaluate(std::move(request)).value();
  }
  std::vector<std::string> query(const std::string& sql) const {
    return store::testing::query_file(store_path, sql);
  }

  TemporaryDirectory folder{"run-judge-test"};
  fs::path store_path = folder.path() / "s.db";
  test::DelayedEvaluations::Setup device;
  std::shared_ptr<const tasks::Task> task =
      std::make_shared<const tasks::Task>(tasks::find_task(tasks::find_catalogue(), "axpy"));
  std::optional<RunJudge> judge;
};

TEST_F(RunJudgeTest, KeepsTheBestKernelOfASession) {
  const agents::SessionPass pass = open("axpy-0-0");
  const std::string best = kernel_saying("correct", 3, "best time=500");
  EXPECT_EQ(ask(pass, kernel_saying("correct", 2)).evaluations.at(0).speedup, 2);
  EXPECT_EQ(ask(pass, best).evaluations.at(0).speedup, 3);
  ask(pass, kernel_saying("correct", 20, "beside a disturbed baseline time=700"));
  EXPECT_EQ(ask(pass, kernel_saying("wrong", 9)).evaluations.at(0).verdict, tasks::Verdict::Wrong);
  const agents::SessionRecord record = judge->close("axpy-0-0");
  EXPECT_EQ(record.evaluations, 4);
  EXPECT_EQ(record.best_kernel, best);
  EXPECT_THAT(query("SELECT r.name FROM candidates AS c JOIN runs AS r ON r.id = c.run_id"),
              testing::Each("r.sessions"));
  EXPECT_EQ(judge->close("axpy-0-0").evaluations, 0); // it is closed already
}

TEST_F(RunJudgeTest, CountsEvaluationsAndSaysWhenNoneIsLeft) {
  const agents::SessionPass pass = open("axpy-0-0", 2);
  EXPECT_EQ(ask(pass, kernel_saying("correct", 2)).fault, "");
  EXPECT_EQ(ask(pass, kernel_saying("correct", 2)).fault, ""); // known: costs nothing
  EXPECT_EQ(ask(pass, kernel_saying("correct", 3)).fault, "");
  EXPECT_THAT(ask(pass, kernel_saying("correct", 4)).fault, HasSubstr("0 are left"));
  EXPECT_EQ(ask(pass, kernel_saying("correct", 3)).fault, "");
  JudgeServer server({pass.server, ""});
  EXPECT_EQ(server.get("/v1/account"),
            nlohmann::json::parse(R"({"evaluations": 2, "most": 2, "hidden_answers": 2})"));
}

TEST_F(RunJudgeTest, ASessionSeesNothingOfAnother) {
  const agents::SessionPass a = open("axpy-0-0"), b = open("axpy-0-1");
  ask(a, kernel_saying("correct", 2, "secret"));
  JudgeServer server({b.server, ""});
  for (const char* target : {"/v1/reports/candidate?candidate=1&part=source&json=0",
                             "/v1/tasks/gemm_f32", "/v1/reports/task?task=gemm_f32"}) {
    EXPECT_THROW(server.get(target), UsageError) << target;
  }
  const std::string board =
      server.get("/v1/reports/board?task=&device=&run=&top=0&format=json&columns=0").dump();
  EXPECT_EQ(board.find("secret"), std::string::npos);
  EXPECT_EQ(board.find(store_path.native()), std::string::npos);
  EXPECT_EQ(server.get("/v1/tasks").at("tasks").size(), 1U);
  EXPECT_EQ(server.get("/v1/account").at("evaluations"), 0);
  const nlohmann::json run = {
      {"name", "own"}, {"strategy", "external:a"}, {"model", "m"}, {"tasks", {"axpy"}}};
  EXPECT_THROW(server.post("/v1/runs", run, std::chrono::seconds(5), {}), UsageError);
  EXPECT_THROW(server.text("/metrics"), UsageError);
}

TEST_F(RunJudgeTest, GoesOnWithASessionThatWasKilled) {
  const std::string best = kernel_saying("correct", 3, "best time=500");
  ask(open("axpy-0-0", 3), kernel_saying("correct", 2));
  ask(open("axpy-0-0", 3), best);
  judge.reset(); // without a close
  begin();
  const agents::SessionPass pass = open("axpy-0-0", 3);
  EXPECT_EQ(read_file(folder.path() / "axpy-0-0" / "kernel.cu", 10'000),
            best);                        // it begins from its best
  ask(pass, kernel_saying("correct", 2)); // nothing is judged again
  EXPECT_EQ(query("SELECT count(*) FROM evaluations"), (std::vector<std::string>{"2"}));
  EXPECT_EQ(judge->close("axpy-0-0").best_kernel, best);
}

TEST_F(RunJudgeTest, ASessionHasNothingOfASessionOfAnotherRun) {
  ask(open("axpy-0-0", 1), kernel_saying("correct", 3, "time=500"));
  judge.reset();
  begin("another");
  const agents::SessionPass pass = open("axpy-0-0", 1);
  EXPECT_EQ(JudgeServer({pass.server, ""}).get("/v1/account").at("evaluations"), 0);
  EXPECT_EQ(ask(pass, kernel_saying("correct", 2)).fault, "");
  const agents::SessionRecord record = judge->close("axpy-0-0");
  EXPECT_EQ(record.evaluations, 1);
  EXPECT_EQ(record.best_kernel, kernel_saying("correct", 2));
}

TEST_F(RunJudgeTest, AnswersNothingAfterTheEnd) {
  device.delay = std::chrono::seconds(60);
  judge.reset();
  begin();
  const agents::SessionPass pass = open("axpy-0-0");
  std::thread asking([&] { EXPECT_NE(ask(pass, kernel_saying("correct", 2)).fault, ""); });
  while (query("SELECT count(*) FROM judge_items") == std::vector<std::string>{"0"}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  judge->close("axpy-0-0");
  asking.join();
  EXPECT_EQ(query("SELECT fault FROM judge_items"), (std::vector<std::string>{"cancelled"}));
}

TEST_F(RunJudgeTest, DrawsOtherHiddenShapesForOtherSessions) {
  std::set<std::string> draws;
  for (int i = 0; i < 6; ++i) {
    ask(open("axpy-0-" + std::to_string(i)), kernel_saying("correct", 2));
  }
  for (const std::string& options : query("SELECT options FROM judge_jobs")) {
    draws.insert(nlohmann::json::parse(options).at("hidden_draw").dump());
  }
  EXPECT_EQ(draws.size(), 6U);
}

TEST_F(RunJudgeTest, DrawsOtherHiddenSizesForEachKernel) {
  const agents::SessionPass pass = open("axpy-0-0");
  for (int i = 1; i < 4; ++i) {
    ask(pass, kernel_saying("correct", i));
    ask(pass, kernel_saying("correct", i)); // the same kernel again is not judged again
  }
  std::set<std::string> sizes;
  for (const std::string& options : query("SELECT options FROM judge_jobs")) {
    sizes.insert(nlohmann::json::parse(options).at("hidden_sizes").dump());
  }
  EXPECT_EQ(sizes.size(), 3U);
  EXPECT_FALSE(sizes.contains("null"));
}

} // namespace
} // namespace winnow::harness
