// Tests runs that ask several models.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"
#include "tests/fake_endpoint/fake_endpoint.h"
#include "tests/fake_endpoint/question.h"

#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using tests::FakeEndpoint;
using tests::FakeReply;
using tests::SeenRequest;

constexpr double kCheapDollars = 0.01;
constexpr double kDearDollars = 0.2;

/// A run of one task that asks two models on one server. No reply has a kernel.
class TwoModels : public ::testing::Test {
protected:
  TwoModels() {
    write_file_atomic(
        config(),
        fmt::format("[run]\nname = \"two\"\ntasks = [\"axpy\"]\nstrategy = \"archive\"\n"
                    "device = \"cpu\"\nproposals = 200\nseeds = 4\n"
                    "[endpoint]\nkind = \"chat\"\nbase_url = \"{}\"\nmax_output_tokens = 1000\n"
                    "[[models]]\nmodel = \"cheap\"\n{}[[models]]\nmodel = \"dear\"\n{}"
                    "[evaluation]\ntiming = false\ntiny_seeds = 1\n",
                    endpoint_.base_url(), price(kCheapDollars), price(kDearDollars)));
  }

  /// A thousand tokens of a reply cost so much.
  static std::string price(double dollars) {
    return fmt::format("dollars_per_million_input = 0\ndollars_per_million_output = {}\n",
                       dollars * 1000);
  }

  std::string config() const { return directory_.path() / "two.toml"; }
  std::string store() const { return directory_.path() / "store.db"; }
  ProgramResult run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run", config(), "--store", store()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_winnow(arguments);
  }

  std::size_t calls_to(const std::string& model) const {
    std::size_t calls = 0;
    for (const tests::AnsweredCall& call : endpoint_.answered()) {
      calls += call.model == model ? 1 : 0;
    }
    return calls;
  }

  TemporaryDirectory directory_{"two-models"};
  FakeEndpoint endpoint_{[](const SeenRequest&, std::size_t) {
    FakeReply reply = tests::chat_reply("no code");
    reply.answer->usage = {10, 0, 1000, 0, 0};
    return reply;
  }};
};

TEST_F(TwoModels, KeepTheLimitOnDollarsAndTellWhoSpentIt) {
  const ProgramResult result = run({"--max-dollars", "1"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, HasSubstr("limits.dollars = 1 is spent"));
  const auto cheap = static_cast<double>(calls_to("cheap"));
  const auto dear = static_cast<double>(calls_to("dear"));
  EXPECT_GE(cheap, 2);
  EXPECT_GE(dear, 2);
  EXPECT_LE(cheap * kCheapDollars + dear * kDearDollars, 1 + 1e-9);
  for (const auto& [model, calls, dollars] :
       {std::tuple("cheap", cheap, kCheapDollars), std::tuple("dear", dear, kDearDollars)}) {
    EXPECT_THAT(result.err, ContainsRegex(fmt::format("{} +all +{} +0 +{:.4f} ", model, calls,
                                                      calls * dollars)));
  }
  const std::size_t asked = endpoint_.requests().size();
  const ProgramResult again = run_winnow({"resume", "two", "--store", store()});
  EXPECT_EQ(again.exit_code, 5) << again.err;
  EXPECT_EQ(endpoint_.requests().size(), asked) << "what was spent before counts";
  const ProgramResult more =
      run_winnow({"resume", "two", "--store", store(), "--max-dollars", "1.5"});
  EXPECT_EQ(more.exit_code, 5) << more.err;
  EXPECT_GT(endpoint_.requests().size(), asked);
}

TEST_F(TwoModels, ALimitOnDollarsNeedsAllPrices) {
  std::string text = read_file(config(), 1U << 20U);
  const std::string of_dear = price(kDearDollars);
  text.erase(text.find(of_dear), of_dear.size());
  write_file_atomic(config(), text);
  const ProgramResult result = run({"--max-dollars", "1"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the price of 'dear' (model 'dear' of [[models]]) is unknown"));
  EXPECT_TRUE(endpoint_.requests().empty());
}

TEST_F(TwoModels, ABudgetSmallerThanOneCallMakesNone) {
  const ProgramResult result = run({"--max-dollars", "0.001"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.err, HasSubstr("limits.dollars = 0.001 is less than one call may need"));
  EXPECT_TRUE(endpoint_.requests().empty());
}

TEST_F(TwoModels, AreNotReplacedByOne) {
  const ProgramResult result = run({"--model", "openai/gpt-5"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--model names one model"));
  const ProgramResult batch =
      run_winnow({"batch", "export", config(), "--store", store(), "-o", store() + ".jsonl"});
  EXPECT_EQ(batch.exit_code, 2) << batch.err;
  EXPECT_THAT(batch.err, HasSubstr("[[models]]"));
}

} // namespace
} // namespace winnow::test
