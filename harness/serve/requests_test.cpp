// Requests of clients as text, and what needs no service.
#include "base/error.h"
#include "base/files.h"
#include "harness/serve/access.h"
#include "harness/serve/client_request.h"
#include "harness/serve/http/http_server.h"
#include "harness/serve/judge_queue.h"
#include "harness/serve/judge_request.h"
#include "harness/serve/reward.h"
#include "harness/serve/served_tasks.h"
#include "tasks/catalogue.h"

#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string error_of(const std::string& body) {
  try {
    parse_judge_request(body);
    return "no error";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(JudgeRequest, ReadsItsOptions) {
  const JudgeRequest request =
      parse_judge_request(R"({"items":[{"task":"axpy","reply":"r"},{"id":"x","task":"t",
                              "kernel":"k"}],"depth":"compile","reward":"log","fresh":true,
                              "wait_s":1e300,"priority":-7,"metadata":["a",1]})");
  ASSERT_EQ(request.items.size(), 2U);
  EXPECT_EQ(request.items[0].id, "0");
  EXPECT_FALSE(request.items[0].is_kernel);
  EXPECT_TRUE(request.items[1].is_kernel);
  EXPECT_EQ(request.depth, JudgeDepth::Compile);
  EXPECT_EQ(request.reward, "log");
  EXPECT_EQ(request.priority, -7);
  EXPECT_EQ(request.metadata, R"(["a",1])");
  EXPECT_EQ(request.max_variants, 1U);
  EXPECT_EQ(parse_judge_request(R"({"items":[{}],"max_variants":256})").max_variants, 256U);
  EXPECT_TRUE(request.fresh);
  EXPECT_EQ(request.wait, kMostWait);
}

TEST(JudgeRequest, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(""), "the body is no JSON");
  EXPECT_EQ(error_of("[]"), "the body is no JSON object");
  EXPECT_EQ(error_of(R"({"items":[]})"), "items is no list of 1 to 1024 items");
  EXPECT_EQ(error_of(R"({"items":[{"task":1}]})"), "items[0].task is no text");
  EXPECT_EQ(error_of(R"({"items":[{"tsk":"a"}]})"),
            "items[0].tsk is unknown; did you mean 'task'?");
  EXPECT_EQ(error_of(R"({"items":[{"id":"a"},{"id":"a"}]})"), "two items have the id 'a'");
  EXPECT_EQ(error_of(R"({"items":[{"reply":"a","kernel":"b"}]})"),
            "items[0].kernel and reply are both there");
  for (const char* number : {"0", "257", "1.5", "1e300", "99999999999999999999", "\"2\""}) {
    EXPECT_EQ(error_of(std::string(R"({"items":[{}],"max_variants":)") + number + "}"),
              "max_variants is no whole number from 1 to 256")
        << number;
  }
  EXPECT_EQ(error_of(R"({"items":[{}],"priority":101})"),
            "priority is no whole number from -100 to 100");
  EXPECT_EQ(error_of(R"({"items":[{}],"metadata":")" + std::string(20'000, 'x') + "\"}"),
            "metadata has 20002 bytes; it may have 16384");
  EXPECT_EQ(error_of(R"({"items":[{}],"depth":"correct","max_variants":2})"),
            "race_against and max_variants need the depth 'full'");
  EXPECT_EQ(error_of(R"({"items":[{}],"race_against":"@1","max_variants":2})"),
            "race_against needs one choice of parameters");
  EXPECT_EQ(error_of(R"({"items":[{"reply":"a"}],"wait_s":-1})"),
            "wait_s is no number of at least 0");
  std::string many = R"({"items":[{})";
  for (std::size_t i = 0; i < kMaxItems; ++i) {
    many += ",{}";
  }
  EXPECT_EQ(error_of(many + "]}"), "items is no list of 1 to 1024 items");
}

TEST(JudgeRequest, RefusesBodiesThatWouldNeedMuchMemory) {
  EXPECT_EQ(error_of(std::string(100'000, '[')), "the JSON of the body has more than 64 levels");
  std::string values = R"({"items":[0)";
  for (int i = 0; i < 1'000'001; ++i) {
    values += ",0";
  }
  EXPECT_EQ(error_of(values + "]}"), "the JSON of the body has more than 1000000 values");
  EXPECT_EQ(error_of("{\"items\":\"" + std::string(100'000, '[') + "\"}"), // a text is no level
            "items is no list of 1 to 1024 items");
}

TEST(Target, TakesPathAndQueryApart) {
  const Target target = parse_target("/v1//jobs/a%2Fb?wait_s=60&x=%26+y&flag").value();
  EXPECT_THAT(target.path, ElementsAre("v1", "jobs", "a/b"));
  EXPECT_THAT(target.query, ElementsAre(Pair("flag", ""), Pair("wait_s", "60"), Pair("x", "& y")));
  EXPECT_TRUE(target.is({"v1", "jobs"}, 1));
  EXPECT_FALSE(target.is({"v1", "jobs"}));
  EXPECT_EQ(target.number("wait_s", 10), 10);
  EXPECT_EQ(target.number("none", 10), 0);
  EXPECT_THROW(static_cast<void>(target.number("x", 10)), UsageError);
  EXPECT_EQ(parse_target("/?n=99999999999999999999")->number("n", 7), 7);
  EXPECT_THROW(static_cast<void>(parse_target("/?n=-5")->number("n", 7)), UsageError);
  for (const char* malformed :
       {"", "v1", "http://x/", "/%", "/%1", "/%zz", "/?%", "/?after=1&after=2"}) {
    EXPECT_EQ(parse_target(malformed), std::nullopt) << malformed;
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) {
    deep += "/a";
  }
  EXPECT_EQ(parse_target(deep), std::nullopt);
}

RewardFacts correct_at(double speedup, double low) {
  return {true, true, true, 1, speedup, low};
}

double reward_by(const char* name, const RewardFacts& facts) {
  return reward_of(Rewards().find(name), facts).value;
}

TEST(Reward, FollowsItsFormula) {
  const RewardFacts wrong{true, true, false, 0.4, 0, 0}, silent{};
  EXPECT_DOUBLE_EQ(reward_by("kevin", correct_at(2, 1.9)), 2.3);
  EXPECT_DOUBLE_EQ(reward_by("kevin", correct_at(500, 400)), 10);
  EXPECT_EQ(reward_by("kevin", wrong), 0);
  EXPECT_DOUBLE_EQ(reward_by("log", correct_at(4, 2)), 1);
  EXPECT_EQ(reward_by("log", correct_at(1.2, 0.8)), 0); // noise earns nothing
  EXPECT_DOUBLE_EQ(reward_by("stages", correct_at(4, 2)), 0.45 + 1);
  EXPECT_DOUBLE_EQ(reward_by("stages", wrong), 0.15 + 0.12);
  EXPECT_EQ(reward_by("stages", silent), 0);
  EXPECT_EQ(reward_by("tiers", silent), -0.5);
  EXPECT_EQ(reward_by("tiers", wrong), -0.3);
  EXPECT_EQ(reward_by("tiers", correct_at(0.5, 0.4)), -0.1);
  EXPECT_EQ(reward_by("tiers", correct_at(1.2, 1.1)), 0.4);
  EXPECT_EQ(reward_by("tiers", correct_at(3, 2)), 1);
  EXPECT_THAT(Rewards().names(), ElementsAre("kevin", "log", "stages", "tiers"));
  try {
    Rewards().find("kevim");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "there is no reward 'kevim'; did you mean 'kevin'?");
  }
}

TEST(RewardConfig, ReadsFormulas) {
  const Rewards rewards = parse_rewards(R"([serve.reward.mine]
parsed = 0.1
not_compiled = -1
log_speed = 2
steps = [[1, 0.5], [2.0, 1.5]]
least = -0.5
most = 3
[serve.reward.plain]
correct = 1
)",
                                        "f.toml");
  const RewardFormula& mine = rewards.find("mine");
  EXPECT_EQ(reward_of(mine, RewardFacts{}).value, -0.5);
  EXPECT_DOUBLE_EQ(reward_of(mine, correct_at(1.5, 1.2)).value, 0.1 + 0.5 + 2 * std::log2(1.2));
  EXPECT_EQ(reward_of(mine, correct_at(9, 8)).value, 3);
  EXPECT_EQ(reward_from_stored(stored_reward(mine)), mine);
  EXPECT_EQ(stored_reward(rewards.find("tiers")), "tiers");
  EXPECT_EQ(reward_from_stored("tiers"), rewards.find("tiers"));
  EXPECT_THROW(reward_from_stored("{"), Error);
  EXPECT_THROW(reward_from_stored(R"({"name":"x","sped":1})"), Error);
  EXPECT_THROW(reward_from_stored("no such"), Error);
}

TEST(RewardConfig, ReadsTheExampleOfTheDocumentation) {
  const std::string page =
      read_file(tasks::find_catalogue().parent_path().parent_path() / "docs/serve.md", 1U << 20U);
  const std::string begin = "```toml\n";
  const std::size_t at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::size_t from = at + begin.size();
  const Rewards rewards = parse_rewards(page.substr(from, page.find("```", from) - from), "page");
  const RewardFormula& careful = rewards.find("careful");
  EXPECT_EQ(reward_of(careful, RewardFacts{}).value, -0.5);
  EXPECT_DOUBLE_EQ(reward_of(careful, correct_at(2.2, 2)).value, 1.4);
  for (const std::string& key : reward_member_names()) {
    EXPECT_THAT(page, HasSubstr("`" + key + "`"));
  }
}

TEST(RewardConfig, SaysWhereMistakesAre) {
  const auto mistakes_in = [](const std::string& text) -> std::string {
    try {
      parse_rewards(text, "f.toml");
      return "none";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(mistakes_in("[serve.reward.a]\nsped = 1\nspeed = \"x\"\n"),
            "f.toml:2:1: unknown key 'sped' in [serve.reward.a]; did you mean 'speed'?\n"
            "f.toml:3:9: serve.reward.a.speed: expected a number from -1e+06 to 1e+06");
  EXPECT_THAT(mistakes_in("[serve.reward.kevin]\ncorrect = 1\n"),
              HasSubstr("f.toml:1:15: there is a reward 'kevin' already"));
  EXPECT_THAT(mistakes_in("[serve.reward.a]\nleast = 2\nmost = 1\n"),
              HasSubstr("least = 2 is above most = 1"));
  EXPECT_THAT(mistakes_in("[serve.reward.a]\n"), HasSubstr("is empty"));
  EXPECT_THAT(mistakes_in("[run]\nname = \"x\"\n"), HasSubstr("f.toml:1:2: a server has no [run]"));
  EXPECT_THAT(mistakes_in("[serve]\nreward = 1\n"), HasSubstr("'serve.reward' is no table"));
  EXPECT_THAT(mistakes_in("[serve.reward]\nspeed = 1\n"),
              HasSubstr("'serve.reward.speed' is no table; expected [serve.reward.NAME]"));
  EXPECT_THAT(mistakes_in("[serve.reward.\"a b\"]\nspeed = 1\n"),
              HasSubstr("'a b' cannot be the name of a reward"));
  for (const char* value : {"inf", "nan", "1e7", "true", "[]", "2026-01-01"}) {
    EXPECT_THAT(mistakes_in(std::string("[serve.reward.a]\nspeed = ") + value),
                HasSubstr("f.toml:2:9: serve.reward.a.speed: expected a number"))
        << value;
  }
  for (const char* value :
       {"1", "[]", "[1]", "[[1]]", "[[2, 1], [1, 1]]", "[[1, inf]]", "[[-1, 0]]", "[[\"1\", 2]]"}) {
    EXPECT_THAT(mistakes_in(std::string("[serve.reward.a]\nsteps = ") + value),
                HasSubstr("f.toml:2:9: serve.reward.a.steps: expected"))
        << value;
  }
}

TEST(JudgeQueue, PrioritiesAreOfOneOwner) {
  JudgeQueue queue;
  queue.push("ann", "a1");
  queue.push("ann", "a2", 5);
  queue.push("ann", "a3", -1);
  queue.push("bob", "b1");
  queue.push("bob", "b2");
  queue.raise("a3", 5); // behind a2, which came first
  queue.raise("a2", 1); // lower than it has
  queue.raise("no such", 1);
  const auto ann = queue.positions("ann"), bob = queue.positions("bob");
  EXPECT_THAT(ann, ElementsAre(Pair("a1", 4U), Pair("a2", 0U), Pair("a3", 2U)));
  EXPECT_THAT(bob, ElementsAre(Pair("b1", 1U), Pair("b2", 3U)));
  EXPECT_TRUE(queue.positions("eve").empty());
  for (const char* job : {"a2", "b1", "a3"}) {
    EXPECT_EQ(queue.pop(), job);
  }
  EXPECT_THAT(queue.positions("ann"), ElementsAre(Pair("a1", 1U))); // it is bob's turn
  EXPECT_EQ(queue.pop(), "b2");
  EXPECT_EQ(queue.pop(), "a1");
  EXPECT_EQ(queue.size(), 0U);
}

TEST(JudgeQueue, LetsOwnersTakeTurns) {
  JudgeQueue queue;
  for (const char* job : {"a1", "a2", "a3"}) {
    queue.push("ann", job);
  }
  queue.push("bob", "b1");
  EXPECT_TRUE(queue.remove("a2"));
  EXPECT_FALSE(queue.remove("a2"));
  EXPECT_EQ(queue.size_of("ann"), 2U);
  EXPECT_EQ(queue.pop(), "a1");
  EXPECT_EQ(queue.pop(), "b1");
  EXPECT_EQ(queue.pop(), "a3");
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(MeasuredRate, TellsWhenToComeAgain) {
  MeasuredRate rate;
  EXPECT_EQ(rate.seconds_for(5), 10);
  const MeasuredRate::Time start{};
  for (int i = 0; i < 100; ++i) {
    rate.count(start + std::chrono::milliseconds(500 * i));
  }
  EXPECT_DOUBLE_EQ(rate.per_second(), 2);
  EXPECT_EQ(rate.seconds_for(1), 1);
  EXPECT_EQ(rate.seconds_for(25), 13);
  EXPECT_EQ(rate.seconds_for(1'000'000), 600);
}

/// A file that only its owner may read.
void write_tokens(const std::filesystem::path& file, const std::string& text) {
  write_file_atomic(file, text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
}

std::string owner_of(const Access& access, const std::string& authorization) {
  const auto client = access.client_of(authorization);
  return client ? client->owner + (client->reads_all ? ", reads all" : "") : "nobody";
}

TEST(Access, KnowsItsTokens) {
  const TemporaryDirectory directory("access-test");
  const auto file = directory.path() / "tokens", board = directory.path() / "board";
  write_tokens(file, "# trainers\nann  0123456789abcdef\n\nbob fedcba9876543210 \t\n"
                     "cid 0123456789012345  reads_all\n");
  write_tokens(board, "543210fedcba9876\n");
  Access access;
  EXPECT_EQ(owner_of(access, ""), "local, reads all"); // without tokens
  access.add_file(file);
  access.add_board_file(board);
  EXPECT_EQ(access.owners(), 3U);
  EXPECT_EQ(access.clients(), 4U);
  EXPECT_EQ(owner_of(access, "Bearer 0123456789abcdef"), "ann");
  EXPECT_EQ(owner_of(access, "bearer fedcba9876543210"), "bob");
  EXPECT_EQ(owner_of(access, "Basic YW55OmZlZGNiYTk4NzY1NDMyMTA="), "bob"); // any:fedc...
  EXPECT_EQ(owner_of(access, "Bearer 0123456789012345"), "cid, reads all");
  EXPECT_EQ(owner_of(access, "Bearer 543210fedcba9876"), "board, reads all");
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Basic !!",
                            "0123456789abcdef", "Bearer 0123456789abcdef0"}) {
    EXPECT_EQ(owner_of(access, wrong), "nobody") << wrong;
  }
  access.let_all_read();
  EXPECT_EQ(owner_of(access, "Bearer 0123456789abcdef"), "ann, reads all");
}

TEST(Access, ABoardIsAClientBesideOneOwner) {
  const TemporaryDirectory directory("access-test");
  const auto board = directory.path() / "board";
  write_tokens(board, "543210fedcba9876\n");
  Access access;
  EXPECT_EQ(access.clients(), 1U);
  access.add({"ann"}, "0123456789abcdef");
  access.add_board_file(board);
  EXPECT_EQ(access.owners(), 1U);
  EXPECT_EQ(access.clients(), 2U);
}

TEST(Access, RefusesWeakTokensWithoutShowingThem) {
  const TemporaryDirectory directory("access-test");
  int files = 0;
  for (const char* line :
       {"bob hunter2", "bob hunter2hunter2hunter2 x", "ann hunter2hunter2hunter2",
        "bob 0123456789abcdef hunter2", "bob 0123456789abcdef", "local hunter2hunter2hunter2",
        "\x1b[31mx hunter2hunter2hunter2", "'' hunter2hunter2hunter2",
        "\xff\xfe hunter2hunter2hunter2", "bob hunter2hunter2\x01hunter2",
        "bob hunter2hunter2\xc3\xa9hunter2", "bob hunter2hunter2\x7f"}) {
    const auto file = directory.path() / std::to_string(++files);
    write_tokens(file, std::string("ann 0123456789abcdef\n") + line + "\n");
    try {
      Access().add_file(file);
      ADD_FAILURE() << line;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(":2: "));
      EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("hunter2")));
    }
  }
  write_tokens(directory.path() / "none", "# none\n");
  EXPECT_THROW(Access().add_file(directory.path() / "none"), UsageError);
  EXPECT_THROW(Access().add_variable("WINNOW_NO_SUCH_VARIABLE"), UsageError);
}

TEST(Access, RefusesFilesThatOthersMayUse) {
  const TemporaryDirectory directory("access-test");
  const auto file = directory.path() / "tokens";
  write_tokens(file, "0123456789abcdef\n");
  Access().add_board_file(file);
  for (const int mode : {0644, 0640, 0604, 0660, 0602, 0601}) {
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    EXPECT_THROW(Access().add_file(file), UsageError) << mode;
    EXPECT_THROW(Access().add_board_file(file), UsageError) << mode;
  }
}

TEST(ServedTasks, AClientCanNameNoFolder) {
  const std::filesystem::path catalogue = tasks::find_catalogue();
  ServedTasks served(catalogue, {});
  EXPECT_EQ(served.find("axpy")->name, "axpy");
  EXPECT_EQ(served.find("blas/axpy"), served.find("axpy")); // read once
  const std::string folder = catalogue / "blas/axpy";
  for (const std::string& name : {folder, std::string("../catalogue/blas/axpy"),
                                  std::string("reduction/axpy"), std::string("/"), std::string()}) {
    EXPECT_THROW(served.find(name), UsageError) << name;
  }
  EXPECT_THROW(ServedTasks(catalogue, {folder}), UsageError); // two tasks of one name
}

TEST(BindAddress, KnowsLoopback) {
  EXPECT_TRUE(parse_bind_address("localhost:0").is_loopback);
  EXPECT_TRUE(parse_bind_address("127.0.0.1:8787").is_loopback);
  EXPECT_TRUE(parse_bind_address("[::1]:8787").is_loopback);
  EXPECT_FALSE(parse_bind_address("0.0.0.0:80").is_loopback);
  EXPECT_FALSE(parse_bind_address("[::]:80").is_loopback);
  EXPECT_EQ(parse_bind_address("[::1]:8787").port, 8787);
  for (const char* wrong : {"", "8787", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999",
                            "example.org:80", "127.0.0.1:80x", ":80"}) {
    EXPECT_THROW(parse_bind_address(wrong), UsageError) << wrong;
  }
}

} // namespace
} // namespace winnow::harness
