// Commands with --server, by the parts that they consist of: over TCP, a Unix socket and a mailbox.
#include "base/error.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/ordered_results.h"
#include "harness/client/judge_server.h"
#include "harness/client/server_devices.h"
#include "harness/client/server_evaluations.h"
#include "harness/client/server_tuning.h"
#include "harness/report/tuning_report.h"
#include "harness/serve/http/http_server.h"
#include "harness/serve/mailbox/mailbox_server.h"
#include "harness/serve/server_application.h"
#include "harness/serve/testing/judge_fixture.h"
#include "store/test_store.h"

#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using test::family_saying;
using test::kernel_saying;
using testing::HasSubstr;

/// A server whose device answers at once, as the kernels say.
class TestServer {
public:
  explicit TestServer(const std::filesystem::path& folder)
      : folder_(folder), store_(folder / "s.db", store::RunStore::Mode::ReadWrite) {
    std::filesystem::create_directory(folder / "box");
    const auto known = store_.find_run("serve");
    const nlohmann::json none = nlohmann::json::object();
    JudgeServiceSetup setup{store_, known ? known->id : store_.create_run("serve", none, none)};
    setup.find_task = [this](const std::string& name) {
      if (name != "axpy") {
        throw UsageError("there is no task '" + name + "'");
      }
      return task_;
    };
    setup.evaluations = [](evaluators::TakeResult done) {
      return std::make_unique<test::DelayedEvaluations>(device, std::move(done));
    };
    setup.device_kind = "cpu";
    setup.device_name = "fake device";
    setup.post = [this](std::function<void()> work) { http_->post(std::move(work)); };
    setup.in_flight = in_flight;
    setup.queue = queue;
    service_.emplace(std::move(setup));
    JudgeRoutes::Setup routes{"fake", {}, {}};
    routes.in_turn = in_turn();
    routes.report = [](const Target&, const std::string&) {
      evaluators::DeviceReport report;
      report.kind = "cpu";
      report.name = "fake device";
      return nlohmann::json{{"task", "axpy"},
                            {"versus", "baseline.cu"},
                            {"device", report},
                            {"evaluator_version", version}};
    };
    routes_.emplace(*service_, std::move(routes));
    const auto post = [this](std::function<void()> work) { http_->post(std::move(work)); };
    board_.emplace(folder / "s.db", store::BoardOptions{}, post);
    application_.emplace(access_, true, *board_, &*routes_);
    http_.emplace(Listening{parse_bind_address("127.0.0.1:0"), folder / "socket"}, *application_);
    mailbox_.emplace(folder / "box", std::nullopt, *application_, in_turn());
    service_->start();
    thread_ = std::thread([this] { http_->run(); });
  }
  ~TestServer() {
    http_->stop();
    thread_.join();
    mailbox_.reset();
    service_.reset();
  }
  TestServer(const TestServer&) = delete; // owns a thread
  TestServer& operator=(const TestServer&) = delete;

  std::vector<std::string> names() const {
    return {fmt::format("http://127.0.0.1:{}/", http_->port()), folder_ / "socket",
            folder_ / "box"};
  }
  static inline int version = evaluators::kEvaluatorVersion;
  static inline std::size_t in_flight = 8, queue = 100;
  static inline test::DelayedEvaluations::Setup device;

private:
  InTurn in_turn() {
    return [this](const std::string& owner, std::function<void()> work, Turn turn) {
      http_->post(owner, std::move(work), turn);
    };
  }
  std::filesystem::path folder_;
  store::RunStore store_;
  std::shared_ptr<const tasks::Task> task_ =
      std::make_shared<const tasks::Task>(tasks::find_task(tasks::find_catalogue(), "axpy"));
  Access access_;
  std::optional<JudgeService> service_;
  std::optional<JudgeRoutes> routes_;
  std::optional<BoardPages> board_;
  std::optional<ServerApplication> application_;
  std::optional<HttpServer> http_;
  std::optional<MailboxServer> mailbox_;
  std::thread thread_;
};

struct ClientTest : testing::Test {
  ClientTest() {
    TestServer::device = {};
    TestServer::version = evaluators::kEvaluatorVersion;
    TestServer::in_flight = 8;
    TestServer::queue = 100;
    store::testing::put_new_store(folder.path() / "s.db");
    server.emplace(folder.path());
  }
  static std::unique_ptr<evaluators::DevicePool> devices(const std::string& name) {
    JudgeServer asked({name, ""});
    return server_devices({name, ""}, served_task(asked, "axpy"),
                          std::make_shared<ServerRemarks>());
  }
  static EvaluationRequest request(const std::string& text) {
    EvaluationRequest one;
    one.task = std::make_shared<const tasks::Task>();
    one.text = text;
    one.protocol.counters = evaluators::Counting::Off;
    return one;
  }

  TemporaryDirectory folder{"client-test"};
  std::optional<TestServer> server;
};

TEST_F(ClientTest, JudgesOverEachWay) {
  for (const std::string& name : server->names()) {
    const auto pool = devices(name);
    EXPECT_EQ(pool->first().name, "fake device");
    evaluators::OneByOne evaluations(pool->factory());
    for (int i = 0; i < 5; ++i) {
      evaluations.submit(request(kernel_saying(i == 3 ? "wrong" : "correct", 2 + i, name)));
    }
    for (int i = 0; i < 5; ++i) {
      const EvaluationResult result = evaluations.next().value();
      ASSERT_EQ(result.evaluations.size(), 1U) << name << i << result.fault;
      const tasks::Evaluation& evaluation = result.evaluations.front();
      EXPECT_EQ(evaluation.verdict, i == 3 ? tasks::Verdict::Wrong : tasks::Verdict::Correct);
      EXPECT_EQ(i == 3 ? 0 : evaluation.speedup, i == 3 ? 0 : 2 + i);
      EXPECT_EQ(evaluation.hidden_speedup, 0);
    }
  }
}

TEST_F(ClientTest, RacesAgainstAKernelThatTheServerHasJudged) {
  const auto pool = devices(server->names().at(1));
  evaluators::OneByOne evaluations(pool->factory());
  EvaluationRequest rival = request(family_saying(2));
  rival.choices = {{{"TIMES", 2}}};
  EvaluationRequest challenger = request(kernel_saying("correct", 9));
  challenger.incumbent = evaluators::KernelToBeat{rival.text, rival.choices.front()};
  const EvaluationResult early = evaluations.evaluate(challenger).value();
  EXPECT_THAT(early.fault, HasSubstr("has not judged"));
  EXPECT_EQ(evaluations.evaluate(rival).value().evaluations.at(0).parameters.at("TIMES"), 2);
  EXPECT_EQ(evaluations.evaluate(challenger).value().fault, "");
  EvaluationRequest trial = request(family_saying(2));
  trial.depth = evaluators::Depth::Trial;
  EXPECT_THAT(evaluations.evaluate(trial).value().fault, HasSubstr("one choice"));
}

TEST_F(ClientTest, ATuningHasEachChoiceThatTheServerTried) {
  const auto tuned = [&](int wrong_at) {
    return tuned_at_server({folder.path() / "socket", ""}, "axpy", family_saying(2, wrong_at), 3,
                           {});
  };
  TunedFamily family = tuned(0);
  EXPECT_EQ(family.of_default.speedup, 2);
  EXPECT_EQ(family.of_default.hidden_speedup, 0);
  EXPECT_EQ(family.of_winner.value().parameters.at("TIMES"), 3);
  EXPECT_EQ(family.of_winner->hidden_speedup, 0);
  EXPECT_EQ(&family.best(), &*family.of_winner);
  EXPECT_THAT(family.trials,
              testing::ElementsAre(testing::Field(&search::Trial::speeds, std::vector<double>{1}),
                                   testing::Field(&search::Trial::speeds, std::vector<double>{2}),
                                   testing::Field(&search::Trial::speeds, std::vector<double>{3})));
  TuningReport report{"axpy", "a.cu", "abc", {"n=64"}, family, {}, "a.tuned.cu", "", "baseline.cu"};
  const nlohmann::json document = tuning_json(report);
  EXPECT_TRUE(document.at("seconds").is_null());
  EXPECT_TRUE(document.at("busy_share").is_null());
  EXPECT_THAT(tuning_text(document), HasSubstr("3 choices in 0.0 s of the device\n"));
  family = tuned(3);
  EXPECT_EQ(family.of_winner.value().parameters.at("TIMES"), 2);
  EXPECT_EQ(family.trials.at(2).verdict, tasks::Verdict::Wrong);
  EXPECT_TRUE(family.trials[2].speeds.empty());
}

TEST_F(ClientTest, TellsFaultsAndRefusals) {
  TestServer::device.fault_every = 1;
  server.reset();
  server.emplace(folder.path());
  const auto pool = devices(server->names().at(0));
  evaluators::OneByOne evaluations(pool->factory());
  EXPECT_NE(evaluations.evaluate(request(kernel_saying("correct", 2))).value().fault, "");
  EvaluationRequest other = request(family_saying(2));
  other.choices = {{{"TIMES", 99}}};
  EXPECT_THAT(evaluations.evaluate(other).value().fault, HasSubstr("no choice"));
  JudgeServer asked({server->names().at(0), ""});
  EXPECT_THROW(asked.get("/v1/batches/b-0"), UsageError);
  TestServer::version = 1;
  try {
    served_task(asked, "axpy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 1 of the rules"));
  }
}

TEST_F(ClientTest, GoesOnAfterTheServerHasBegunAgain) {
  TestServer::device.delay = std::chrono::milliseconds(300);
  server.reset();
  server.emplace(folder.path());
  const auto pool = devices(folder.path() / "socket");
  evaluators::OneByOne evaluations(pool->factory());
  evaluations.submit(request(kernel_saying("correct", 2)));
  evaluations.submit(request(kernel_saying("correct", 3)));
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  server.reset(); // while it judges
  server.emplace(folder.path());
  EXPECT_EQ(evaluations.next().value().evaluations.at(0).speedup, 2);
  EXPECT_EQ(evaluations.next().value().evaluations.at(0).speedup, 3);
}

TEST_F(ClientTest, StopsSoonAndCancelsItsJobs) {
  TestServer::device.delay = std::chrono::seconds(60);
  server.reset();
  server.emplace(folder.path());
  const auto items = [&](const std::string& where) {
    return std::stoi(store::testing::query_file(
        folder.path() / "s.db", "SELECT count(*) FROM judge_items WHERE " + where)[0]);
  };
  int asked = 0;
  for (const std::string& name : server->names()) {
    const auto pool = devices(name);
    const auto begin = std::chrono::steady_clock::now();
    {
      evaluators::OneByOne evaluations(pool->factory());
      evaluations.submit(request(kernel_saying("correct", 2, name)));
      ++asked;
      for (int i = 0; i < 2000 && items("true") < asked; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << name;
  }
  EXPECT_EQ(items("fault = 'cancelled'"), 3);
}

TEST_F(ClientTest, StopsWhileTheServerIsFull) {
  TestServer::device.delay = std::chrono::seconds(60);
  TestServer::in_flight = TestServer::queue = 1;
  server.reset();
  server.emplace(folder.path());
  const auto pool = devices(folder.path() / "socket");
  evaluators::OneByOne running(pool->factory()), waiting(pool->factory());
  running.submit(request(kernel_saying("correct", 2)));
  while (JudgeServer({folder.path() / "socket", ""}).get("/v1/health").at("running") == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  waiting.submit(request(kernel_saying("correct", 3)));
  while (JudgeServer({folder.path() / "socket", ""}).get("/v1/health").at("queued") == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  auto refused = std::make_unique<evaluators::OneByOne>(pool->factory());
  refused->submit(request(kernel_saying("correct", 4)));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto begin = std::chrono::steady_clock::now();
  refused.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(ClientTest, SaysThatNobodyAnswers) {
  EXPECT_THROW(JudgeServer({"http://127.0.0.1:1", ""}).get("/v1/health"), Error);
  EXPECT_THROW(JudgeServer({"/nowhere", ""}), UsageError);
  EXPECT_THROW(JudgeServer({folder.path() / "s.db", ""}), UsageError);
  EXPECT_THROW(JudgeServer({folder.path(), ""}).get("/v1/health"), Error); // no mailbox
}

} // namespace
} // namespace winnow::harness
