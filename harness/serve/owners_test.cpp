// What a token sees of other owners' work: as the table in docs/serve.md says, and no more.
#include "base/digest.h"
#include "base/text.h"
#include "harness/serve/server_application.h"
#include "harness/serve/testing/judge_fixture.h"
#include "store/candidate_record.h"
#include "store/database.h"
#include "tasks/catalogue.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using test::ExchangeFake;
using test::kernel_saying;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMark = "| route | no token | an owner | `reads_all` |\n";

struct Row {
  std::string method, target;
  std::map<std::string, std::string> sees; ///< by role
};

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  while (line.starts_with('|') && line.size() > 1) {
    line.remove_prefix(1);
    const std::size_t end = std::min(line.find('|'), line.size());
    cells.emplace_back(trim(line.substr(0, end)));
    line.remove_prefix(end);
  }
  return cells;
}

/// The rows of the table; a row of several routes counts as several.
std::vector<Row> table() {
  const std::string page =
      read_file(tasks::find_catalogue().parent_path().parent_path() / "docs/serve.md", 1U << 20U);
  std::vector<Row> rows;
  const std::size_t begin = page.find(kMark);
  EXPECT_NE(begin, std::string::npos);
  std::string_view rest = std::string_view(page).substr(begin + std::string_view(kMark).size());
  while (rest.starts_with('|')) {
    const std::vector<std::string> cells = cells_of(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));
    std::string_view routes = cells.at(0);
    for (std::size_t at; (at = routes.find('`')) != std::string_view::npos;) {
      const std::size_t end = routes.find('`', at + 1);
      const std::string route(routes.substr(at + 1, end - at - 1));
      routes.remove_prefix(end + 1);
      const std::size_t space = route.find(' ');
      rows.push_back({route.substr(0, space),
                      route.substr(space + 1),
                      {{"nobody", cells.at(1)}, {"bob", cells.at(2)}, {"reader", cells.at(3)}}});
    }
  }
  return rows;
}

/// A server with the work of ann, who sends what nobody else may see.
struct OwnersTest : test::JudgeFixture {
  static constexpr const char* kSecret = "secret-of-ann";
  Access access;
  std::mutex mutex;
  std::condition_variable posted;
  std::deque<std::function<void()>> work;
  std::unique_ptr<BoardPages> board;
  std::unique_ptr<ServerApplication> application;
  std::string job, batch;

  OwnersTest() { owners = 3; }
  void SetUp() override {
    routes_setup.task_list = [] { return json{{"tasks", {"axpy"}}}; };
    routes_setup.task = [](const std::string& name) { return json{{"name", name}}; };
    routes_setup.report = [this](const Target&, const std::string& sees) {
      store::RunStore own(directory.path() / "s.db", store::RunStore::Mode::ReadOnly);
      if (!sees.empty()) {
        own.show_only(sees);
      }
      const store::CandidateRecord record = own.candidate_record(own.candidate_named("@1"));
      return json{{"text", record.state.row.text}};
    };
    JudgeFixture::SetUp();
    access.add({"ann"}, "ann-0123456789abcdef");
    access.add({"bob"}, "bob-0123456789abcdef");
    access.add({"reader", true}, "reader-0123456789abcdef");
    const auto post = [this](std::function<void()> one) {
      const std::lock_guard lock(mutex);
      work.push_back(std::move(one));
      posted.notify_all();
    };
    board = std::make_unique<BoardPages>(directory.path() / "s.db", store::BoardOptions{}, post);
    application = std::make_unique<ServerApplication>(access, false, *board, routes.get());
    const json run = run_of(kSecret);
    ask("ann", "POST", "/v1/runs", run.dump());
    json called = item(kSecret, kernel_saying("correct", 2, kSecret));
    called.update({{"run", kSecret}, {"call", 1}});
    const json accepted = judge_as("ann", called);
    evaluations->answer_all();
    job = accepted.at("jobs").at(0).at("job");
    batch = accepted.at("batch");
  }

  static json run_of(const std::string& name) {
    return {{"name", name}, {"strategy", "external:evo"}, {"model", "m"}, {"tasks", {"axpy"}}};
  }

  json judge_as(const std::string& owner, const json& one, const std::string& rival = "") {
    json body = {{"items", {one}}, {"metadata", one.at("id")}};
    if (!rival.empty()) {
      body["race_against"] = rival;
    }
    return json::parse(ask(owner, "POST", "/v1/judge", body.dump()).body);
  }

  HttpReply ask(const std::string& owner, const std::string& method, const std::string& target,
                const std::string& body = "{}") {
    auto exchange = std::make_shared<ExchangeFake>(method, target, body);
    exchange->authorize("Bearer " + owner + "-0123456789abcdef");
    if (auto at_once = application->admit(exchange->request()).reply) {
      return *at_once;
    }
    application->handle(exchange);
    if (!exchange->answer() && !exchange->has_ended) { // a thread makes the page
      std::unique_lock lock(mutex);
      posted.wait(lock, [this] { return !work.empty(); });
      work.front()();
      work.pop_front();
    }
    HttpReply reply = exchange->has_ended ? HttpReply{} : exchange->answer().value();
    reply.body += reply.page ? *reply.page : "";
    for (const std::string& line : exchange->lines) {
      reply.body += line;
    }
    return reply;
  }

  /// The row's route with ann's names in it.
  std::string target_of(const Row& row) const {
    std::string target = row.target;
    for (const auto& [name, value] : {std::pair("/J", job), std::pair("/B", batch),
                                      std::pair("/R", std::string("ann%2F") + kSecret)}) {
      if (const std::size_t at = target.find(name); at != std::string::npos) {
        target.replace(at + 1, 1, value);
      }
    }
    const std::size_t task = target.find("NAME");
    return task == std::string::npos ? target : target.replace(task, 4, "axpy");
  }
  std::string body_for(const Row& row) const {
    return row.target == "/v1/runs" ? run_of("mine").dump()
           : row.method == "POST"
               ? json{{"items", {item("mine", kernel_saying("correct", 2, kSecret))}}}.dump()
               : "{}";
  }
  bool shows_ann(const HttpReply& reply) const {
    return reply.body.find(kSecret) != std::string::npos ||
           reply.body.find(job) != std::string::npos || reply.body.find(batch) != std::string::npos;
  }
};

TEST_F(OwnersTest, EachRouteShowsWhatTheTableSays) {
  std::set<std::string> kinds;
  for (const Row& row : table()) {
    for (const auto& [role, sees] : row.sees) {
      const std::string what = row.method + " " + row.target + " as " + role + ": " + sees;
      const HttpReply reply = ask(role, row.method, target_of(row), body_for(row));
      kinds.insert(sees);
      if (sees == "nothing") {
        EXPECT_THAT(reply.status, ::testing::AnyOf(401, 403)) << what;
      } else if (sees == "own") {
        EXPECT_THAT(reply.status, ::testing::AnyOf(200, 202, 404, 422)) << what;
      } else {
        EXPECT_EQ(reply.status, 200) << what << reply.body;
      }
      EXPECT_EQ(shows_ann(reply), sees == "all") << what << reply.body;
    }
    if (row.sees.at("bob") == "own" && row.method == "GET") {
      EXPECT_TRUE(shows_ann(ask("ann", row.method, target_of(row)))) << row.target;
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"nothing", "own", "all", "counts", "tasks"}));
}

/// The JSON of a page.
json index_of(const std::string& page) {
  const std::string begin = "id=\"board\">";
  const std::size_t from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST_F(OwnersTest, TheBoardOfAnOwnerIsThatOfAStoreWithNoOther) {
  EXPECT_EQ(index_of(ask("bob", "GET", "/").body).at("candidates").at("rows").size(), 0U);
  judge_as("bob", item("mine", kernel_saying("correct", 2, kSecret))); // ann was first
  evaluations->answer_all();
  const json bobs = index_of(ask("bob", "GET", "/").body);
  EXPECT_EQ(bobs.at("candidates").at("rows").size(), 1U);
  EXPECT_EQ(bobs.at("leaderboard").at("rows").size(), 1U);
  EXPECT_EQ(bobs.at("tasks").size(), 1U);
  EXPECT_EQ(bobs.at("verdict_counts").at(0).at("candidates"), 1);
  EXPECT_EQ(bobs.at("runs").at(0).at("candidates"), 1);
  const json alls = index_of(ask("reader", "GET", "/").body);
  EXPECT_EQ(alls.at("candidates").at("rows").size(), 2U);
  const json anns = index_of(ask("ann", "GET", "/").body); // the page before this one was bob's
  EXPECT_EQ(anns.at("candidates").at("rows").size(), 1U);
  EXPECT_NE(anns.at("candidates").at("rows"), bobs.at("candidates").at("rows"));
}

TEST_F(OwnersTest, ABoardDoesNotSayWhoCompiledFirst) {
  judge_as("bob", item("mine", kernel_saying("correct", 2, kSecret)));
  evaluations->answer_all();
  store->transaction([&] {
    store->read([](const store::Database& database) {
      store::Query(database, "UPDATE evaluations SET build_from_cache = 1, build_seconds = 0.125")
          .run();
    });
  });
  store::RunStore own(directory.path() / "s.db", store::OpenMode::ReadOnly);
  own.show_only("bob");
  own.read([](const store::Database& database) {
    store::Query query(database,
                       "SELECT build_from_cache, build_seconds, verdict FROM evaluation_overview");
    ASSERT_TRUE(query.next());
    EXPECT_EQ(query.integer("build_from_cache"), 0);
    EXPECT_EQ(query.real("build_seconds"), 0);
    EXPECT_EQ(query.text("verdict"), "correct");
    EXPECT_FALSE(query.next());
  });
}

TEST_F(OwnersTest, TheSameKernelOfAnotherOwnerIsANewOne) {
  const json mine = item("mine", kernel_saying("correct", 2, kSecret));
  const json news = judge_as("bob", mine);
  EXPECT_FALSE(news.at("done"));
  EXPECT_EQ(news.at("jobs").at(0).at("state"), "running");
  EXPECT_NE(news.at("jobs").at(0).at("job"), job);
  EXPECT_FALSE(evaluations->requests.front().protocol.reuse); // of the same machine code
  evaluations->answer_all();
  const json first = judge_as("bob", mine).at("results").at(0); // his own answer is known
  EXPECT_TRUE(first.at("cached"));
  const json other =
      json::parse(ask("bob", "GET", "/v1/batches/" + news.at("batch").get<std::string>()).body)
          .at("results")
          .at(0);
  EXPECT_FALSE(other.at("cached"));
}

TEST_F(OwnersTest, ARivalOfAnotherOwnerIsLikeOneThatDoesNotExist) {
  const std::string digest = sha256_hex(kernel_saying("correct", 2, kSecret));
  std::set<std::string> errors;
  for (const std::string& rival :
       {std::string("@1"), std::string("@999"), digest.substr(0, 4), digest, std::string("0000"),
        std::string("1"), std::string("x'; --"), std::string("@"), std::string("%%%%")}) {
    const json answer = judge_as("bob", item("mine", kernel_saying("correct", 3)), rival);
    EXPECT_EQ(answer.at("jobs").at(0).at("state"), "refused") << rival;
    errors.insert(answer.at("error").get<std::string>());
  }
  EXPECT_EQ(errors.size(), 1U);
  EXPECT_THAT(*errors.begin(), Not(HasSubstr(directory.path().string())));
  for (const char* owner : {"ann", "reader"}) {
    for (const std::string& rival : {std::string("@1"), digest.substr(0, 8)}) {
      EXPECT_EQ(judge_as(owner, item(rival + owner, kernel_saying("correct", 3)), rival)
                    .at("jobs")
                    .at(0)
                    .at("state"),
                "running");
    }
  }
}

TEST_F(OwnersTest, NoErrorNamesAFile) {
  const std::string path = directory.path().string();
  judge_as("bob", item("mine", kernel_saying("correct", 4)));
  evaluations->fail("cannot start '" + path + "/child': no memory");
  store->transaction([&] { // what every later query meets
    store->read([](const store::Database& database) {
      store::Query(database, "DROP TABLE judge_items").run();
    });
  });
  for (const Row& row : table()) {
    for (const char* role : {"bob", "reader"}) {
      const HttpReply reply = ask(role, row.method, target_of(row), body_for(row));
      EXPECT_THAT(reply.body, Not(HasSubstr(path))) << row.target;
      EXPECT_THAT(reply.body, Not(HasSubstr("judge_items"))) << row.target;
    }
  }
}

TEST_F(OwnersTest, AFaultNamesNoFile) {
  const std::string path = directory.path().string();
  const json accepted = judge_as("bob", item("mine", kernel_saying("correct", 4)));
  evaluations->fail("cannot start '" + path + "/child' for runs/rl.db: no memory");
  const std::string answer =
      ask("bob", "GET", "/v1/batches/" + accepted.at("batch").get<std::string>()).body;
  EXPECT_THAT(answer, HasSubstr("cannot start [a file] for [a file] no memory"));
  EXPECT_THAT(answer, Not(HasSubstr(path)));
}

struct OwnerBytesTest : test::JudgeFixture {
  OwnerBytesTest() { owner_bytes = 150'000; }
  int send_text(const std::string& owner, const std::string& reply) const {
    const json one = {{"id", "a"}, {"task", "axpy"}, {"reply", reply}};
    return status_of(send("POST", "/v1/judge", {{"items", {one}}}, owner));
  }
};

TEST_F(OwnerBytesTest, BoundsWhatOneOwnerStores) {
  int accepted = 0;
  while (accepted < 20 && send_text("ann", std::string(16'000, 'a') + std::to_string(accepted)) ==
                              200) { // no kernel, so no queue bounds it
    ++accepted;
  }
  EXPECT_EQ(accepted, 4);
  EXPECT_EQ(send_text("bob", "no kernel"), 200);
  restart(); // the store knows it
  EXPECT_EQ(send_text("ann", std::string(30'000, 'b')), 422);
  EXPECT_EQ(send_text("bob", std::string(30'000, 'b')), 200);
}

TEST_F(OwnerBytesTest, ChoicesThatWereTriedCount) {
  const json one = item("a", test::family_saying(2));
  send("POST", "/v1/judge", {{"items", {one}}, {"max_variants", 3}}, "ann");
  send("POST", "/v1/judge", {{"items", {one}}}, "bob");
  while (!evaluations->requests.empty()) {
    evaluations->answer();
  }
  const std::string rest(owner_bytes - 2 * store::kBytesOfJudgeItem - one.dump().size() - 1'000,
                         'r');
  EXPECT_EQ(send_text("ann", rest), 422);
  restart();
  EXPECT_EQ(send_text("ann", rest), 422);
  EXPECT_EQ(send_text("bob", rest), 200);
}

TEST_F(OwnerBytesTest, ANulHidesNoText) {
  EXPECT_EQ(send_text("ann", std::string(1, '\0') + std::string(110'000, 'a')), 200);
  restart();
  EXPECT_EQ(send_text("ann", std::string(20'000, 'b')), 422);
}

TEST_F(OwnerBytesTest, RefusedItemsAreNotCounted) {
  const json one = {{"task", "no_such_task"}, {"reply", std::string(16'000, 'a')}};
  for (int i = 0; i < 20; ++i) {
    send("POST", "/v1/judge", {{"items", {one}}, {"metadata", std::string(9'000, 'm')}}, "ann");
  }
  EXPECT_EQ(send_text("ann", "no kernel"), 200);
}

TEST_F(OwnerBytesTest, ABoardBesideAnOwnerEndsTheReuseOfMachineCode) {
  judge({item("alone", kernel_saying("correct", 2))});
  EXPECT_TRUE(evaluations->requests.back().protocol.reuse);
  has_board = true;
  restart();
  judge({item("beside", kernel_saying("correct", 3))});
  EXPECT_FALSE(evaluations->requests.back().protocol.reuse);
}

} // namespace
} // namespace winnow::harness
