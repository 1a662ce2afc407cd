// Tests the cost of runs. SIGKILL with many requests in flight must lose no reply that had arrived,
// and no reply may be paid twice. The budget is remembered, and further runs reuse a store's
// replies at no cost.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"
#include "tests/fake_endpoint/fake_endpoint.h"
#include "tests/fake_endpoint/question.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using ::testing::HasSubstr;
using tests::FakeEndpoint;
using tests::FakeReply;
using tests::SeenRequest;

constexpr std::size_t kInFlight = 64;
constexpr auto kPatience = std::chrono::seconds(300); // builds with sanitizers are slow

/// A different answer for each call, so that no two can be confused.
std::string answer_text(const std::string& key) {
  return "no code for " + key;
}

std::string key_of(const SeenRequest& request) {
  return tests::understand(request).value().key;
}

std::size_t tokens_of(const tests::AnsweredCall& call) {
  return static_cast<std::size_t>(call.usage.tokens());
}

/// A best-of-n run of one task against an endpoint, in its own directory.
class PaidRun {
public:
  PaidRun(const FakeEndpoint& endpoint, std::size_t proposals) : endpoint_(endpoint) {
    write_file_atomic(directory_.path() / "prices.toml",
                      "date = \"2026-11-20\"\n[[price]]\nhost = \"127.0.0.1\"\nmodel = \"fake\"\n"
                      "input = 2\ncached_input = 0.5\noutput = 8\n");
    write_file_atomic(
        directory_.path() / "paid.toml",
        fmt::format("[run]\nname = \"paid\"\ntasks = [\"axpy\"]\nstrategy = \"best-of-n\"\n"
                    "device = \"cpu\"\nproposals = {}\nparallel = {}\n"
                    "[endpoint]\nkind = \"chat\"\nbase_url = \"{}\"\nmodel = \"fake\"\n"
                    "max_output_tokens = 500\nprices = \"{}\"\n"
                    "[evaluation]\ntiming = false\ntiny_seeds = 1\n",
                    proposals, kInFlight, endpoint.base_url(),
                    (directory_.path() / "prices.toml").string()));
  }

  std::string store() const { return directory_.path() / "store.db"; }
  std::vector<std::string> start(const std::vector<std::string>& more = {}) const {
    return with(more, {"run", directory_.path() / "paid.toml", "--store", store()});
  }
  std::vector<std::string> resume(const std::vector<std::string>& more = {}) const {
    return with(more, {"resume", "paid", "--store", store()});
  }

  /// The rows of a query, with columns joined by spaces; empty while there is no store.
  std::vector<std::string> query(const std::string& sql) const {
    std::vector<std::string> rows;
    if (!std::filesystem::exists(store())) {
      return rows;
    }
    try {
      SQLite::Database database(store(), SQLite::OPEN_READONLY);
      SQLite::Statement statement(database, sql);
      while (statement.executeStep()) {
        std::string& row = rows.emplace_back();
        for (int i = 0; i < statement.getColumnCount(); ++i) {
          row += (i == 0 ? "" : " ") + statement.getColumn(i).getString();
        }
      }
    } catch (const SQLite::Exception&) { // the store is being created
      rows.clear();
    }
    return rows;
  }

  /// Keys of the calls whose replies are in the store.
  std::set<std::string> replies() const {
    const auto rows = query("SELECT key FROM model_calls WHERE status = 'ok'");
    return {rows.begin(), rows.end()};
  }

  const FakeEndpoint& endpoint() const { return endpoint_; }

private:
  static std::vector<std::string> with(const std::vector<std::string>& more,
                                       std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TemporaryDirectory directory_{"money"};
  const FakeEndpoint& endpoint_;
};

/// Answers `open_for` requests, then none until open() is called.
class Valve {
public:
  explicit Valve(std::size_t open_for) : open_for_(open_for) {}
  void open() { open_for_ = std::numeric_limits<std::size_t>::max(); }
  FakeReply answer(const SeenRequest& request, std::size_t number) const {
    FakeReply reply = tests::chat_reply(answer_text(key_of(request)));
    if (number >= open_for_) {
      reply.fault = tests::Fault::NeverAnswer;
    }
    return reply;
  }

private:
  std::atomic<std::size_t> open_for_;
};

/// Runs the program until `reached` is true, then kills it with SIGKILL.
template <typename Reached>
void run_until(const std::vector<std::string>& arguments, Reached reached) {
  ProgramOptions options;
  options.timeout = kPatience;
  process::ChildProcess child(winnow_command(arguments, options));
  while (child.running() && !reached()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  kill(child.pid(), SIGKILL);
  child.wait();
}

std::vector<std::string> keys_asked(const FakeEndpoint& endpoint, std::size_t from) {
  std::vector<std::string> keys;
  const std::vector<SeenRequest> requests = endpoint.requests();
  for (std::size_t i = from; i < requests.size(); ++i) {
    keys.push_back(key_of(requests[i]));
  }
  return keys;
}

/// Checks that the store has every reply as it was sent.
void expect_all_replies(const PaidRun& run, std::size_t proposals) {
  std::map<std::string, std::string> replies;
  for (const std::string& row : run.query("SELECT key, reply FROM model_calls "
                                          "WHERE status = 'ok'")) {
    const std::size_t space = row.find(' ');
    replies[row.substr(0, space)] = row.substr(space + 1);
  }
  EXPECT_EQ(replies.size(), proposals);
  for (const auto& [key, text] : replies) {
    EXPECT_EQ(text, answer_text(key));
  }
}

TEST(Money, ASigkillWith64RequestsInFlightLosesNothingAndPaysNothingTwice) {
  constexpr std::size_t kAnswered = 24;
  constexpr std::size_t kProposals = kAnswered + kInFlight;
  Valve valve(kAnswered);
  const FakeEndpoint endpoint([&](const SeenRequest& request, std::size_t number) {
    return valve.answer(request, number);
  });
  const PaidRun run(endpoint, kProposals);
  run_until(run.start(), [&] {
    return endpoint.requests().size() == kProposals && run.replies().size() == kAnswered;
  });
  ASSERT_EQ(endpoint.requests().size(), kProposals) << "answered or in flight";
  const std::set<std::string> kept = run.replies();
  ASSERT_EQ(kept.size(), kAnswered) << "all that had arrived";

  const ProgramResult refused = run_winnow(run.resume({"--set", "limits.calls=24"}));
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("24 calls, 360 tokens, $0.0013"));
  EXPECT_THAT(refused.err, HasSubstr("estimated, on top of what was measured: $"));
  EXPECT_EQ(endpoint.requests().size(), kProposals) << "nothing was asked";

  valve.open();
  ProgramOptions patient;
  patient.timeout = kPatience;
  const ProgramResult resumed = run_winnow(run.resume({"--set", "limits.calls=0"}), patient);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const std::vector<std::string> asked = keys_asked(endpoint, kProposals);
  EXPECT_EQ(asked.size(), kInFlight);
  for (const std::string& key : asked) {
    EXPECT_FALSE(kept.contains(key)) << key << " was paid twice";
  }
  EXPECT_EQ(endpoint.answered().size(), kProposals) << "each call was answered once";
  expect_all_replies(run, kProposals);
  double dollars = 0;
  std::size_t tokens = 0;
  for (const tests::AnsweredCall& call : endpoint.answered()) {
    dollars += call.dollars;
    tokens += tokens_of(call);
  }
  EXPECT_THAT(run.query("SELECT prompt_tokens + completion_tokens = " + std::to_string(tokens) +
                        ", abs(dollars - " + fmt::format("{}", dollars) +
                        ") < 1e-9, calls_without_price, unconfirmed_sendings FROM run_overview"),
              ::testing::ElementsAre("1 1 0 64"));
  EXPECT_THAT(resumed.err, HasSubstr("of 64 requests that the provider did not count"));
}

TEST(Money, NoSigkillAtAnyMomentMakesItPayTwice) {
  constexpr std::size_t kProposals = 150;
  constexpr int kKills = 6;
  const FakeEndpoint endpoint([&](const SeenRequest& request, std::size_t number) {
    FakeReply reply = tests::chat_reply(answer_text(key_of(request)));
    reply.delivery.first_byte = std::chrono::milliseconds(5 + number % 7 * 30);
    return reply;
  });
  const PaidRun run(endpoint, kProposals);
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> step(1, 30);
  for (int i = 0; i < kKills; ++i) {
    const std::set<std::string> kept = run.replies();
    const std::size_t asked_before = endpoint.requests().size();
    const std::size_t enough = kept.size() + step(random);
    run_until(i == 0 ? run.start() : run.resume(), [&] { return run.replies().size() >= enough; });
    for (const std::string& key : keys_asked(endpoint, asked_before)) {
      EXPECT_FALSE(kept.contains(key)) << key << " was paid twice, after kill " << i;
    }
    const std::set<std::string> now = run.replies();
    EXPECT_TRUE(std::includes(now.begin(), now.end(), kept.begin(), kept.end()));
  }
  ProgramOptions patient;
  patient.timeout = kPatience;
  const ProgramResult last = run_winnow(run.resume(), patient);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  expect_all_replies(run, kProposals);
}

TEST(Money, ALimitOnDollarsHoldsWithRequestsInFlight) {
  const FakeEndpoint endpoint([](const SeenRequest& request, std::size_t) {
    FakeReply reply = tests::chat_reply(answer_text(key_of(request)));
    reply.answer->usage = {1000, 0, 500, 0, 0}; // $0.006, less than the reservation
    reply.delivery.first_byte = std::chrono::milliseconds(20);
    return reply;
  });
  const PaidRun run(endpoint, kInFlight);
  const ProgramResult result = run_winnow(run.start({"--set", "limits.dollars=0.1"}));
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, HasSubstr("limits.dollars = 0.1 is spent"));
  EXPECT_GE(endpoint.answered().size(), 5U);
  EXPECT_LE(endpoint.answered().size(), 16U) << "that many cost less than ten cents";
  const std::size_t asked = endpoint.requests().size();
  const ProgramResult again = run_winnow(run.resume());
  EXPECT_EQ(again.exit_code, 5) << again.err;
  EXPECT_EQ(endpoint.requests().size(), asked) << "what was spent before counts";
}

/// A finished run with two proposals. Other runs may use its store.
class PaidStore : public ::testing::Test {
protected:
  PaidStore() {
    const ProgramResult first = run_winnow(run_.start());
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(endpoint_.requests().size(), 2U);
  }

  FakeEndpoint endpoint_{[](const SeenRequest& request, std::size_t) {
    return tests::chat_reply(answer_text(key_of(request)));
  }};
  PaidRun run_{endpoint_, 2};
};

TEST_F(PaidStore, AnswersAReplay) {
  const ProgramResult replay =
      run_winnow(run_.start({"--name", "replay", "--set", "endpoint.kind=replay", "--set",
                             "endpoint.file=" + run_.store(), "--set", "endpoint.run=paid"}));
  EXPECT_EQ(replay.exit_code, 0) << replay.err;
  EXPECT_EQ(endpoint_.requests().size(), 2U) << "nobody was asked";
  EXPECT_THAT(run_.query("SELECT a.key FROM model_calls AS a JOIN model_calls AS b USING (key) "
                         "WHERE a.run_id = 1 AND b.run_id = 2 AND a.reply = b.reply "
                         "AND a.dollars = b.dollars ORDER BY 1"),
              ::testing::ElementsAre("axpy/0/0", "axpy/1/0"));
  const ProgramResult nowhere =
      run_winnow(run_.start({"--name", "nowhere", "--set", "endpoint.kind=replay", "--set",
                             "endpoint.file=" + run_.store(), "--set", "endpoint.run=payd"}));
  EXPECT_EQ(nowhere.exit_code, 2) << nowhere.err;
  EXPECT_THAT(nowhere.err, HasSubstr("did you mean 'paid'?"));
}

TEST_F(PaidStore, ServesIdenticalRequestsForNothing) {
  const ProgramResult again = run_winnow(
      run_.start({"--name", "again", "--set", "endpoint.reuse=true", "--set", "run.proposals=3"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(endpoint_.requests().size(), 3U) << "the third sample";
  EXPECT_THAT(again.err, HasSubstr("3 calls (2 of them from the record), 15 tokens, $0.000054"));
  EXPECT_THAT(run_.query("SELECT key, served_from IS NOT NULL, dollars > 0 FROM model_calls "
                         "WHERE run_id = 2 ORDER BY id"),
              ::testing::ElementsAre("axpy/0/0 1 0", "axpy/1/0 1 0", "axpy/2/0 0 1"));
}

TEST(Money, ALimitOnDollarsNeedsAPrice) {
  const FakeEndpoint endpoint({tests::chat_reply("no code")});
  const PaidRun run(endpoint, 1);
  const ProgramResult unknown = run_winnow(
      run.start({"--set", "limits.dollars=1", "--set", "endpoint.model=never-heard-of"}));
  EXPECT_EQ(unknown.exit_code, 2) << unknown.err;
  EXPECT_THAT(unknown.err, HasSubstr("the price of 'never-heard-of' is unknown"));
  EXPECT_TRUE(endpoint.requests().empty());
  const ProgramResult known = run_winnow(run.start({"--set", "limits.dollars=1"}));
  EXPECT_EQ(known.exit_code, 0) << known.err;
  EXPECT_THAT(run.query("SELECT price_source LIKE '%prices.toml, 2026-11-20' FROM call_costs"),
              ::testing::ElementsAre("1"));
}

} // namespace
} // namespace winnow::test
