#include "base/error.h"
#include "evaluators/evaluation/precheck.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using Outcome = PrecheckAnswer::Outcome;

TEST(Precheck, PassesOnlyWhatTheCommandPasses) {
  const PrecheckAnswer answer =
      precheck("echo looking; echo '{\"should_filter\": false}'; echo", "__global__ void k();");
  EXPECT_EQ(answer.outcome, Outcome::Passed) << answer.detail;
}

TEST(Precheck, GivesTheTextOnStdin) {
  const std::string command =
      "if grep -q clock64; then echo '{\"should_filter\": true, \"filter_reason\": \"reads the "
      "clock\", \"matched_patterns\": [{\"pattern\": \"clock64\"}]}'; "
      "else echo '{\"should_filter\": false}'; fi";
  EXPECT_EQ(precheck(command, "int a;").outcome, Outcome::Passed);
  const PrecheckAnswer answer = precheck(command, "clock64();");
  EXPECT_EQ(answer.outcome, Outcome::Refused);
  EXPECT_EQ(answer.detail, "reads the clock (clock64)");
}

TEST(Precheck, TakesPatternsAsStringsToo) {
  const PrecheckAnswer answer =
      precheck("echo '{\"should_filter\": true, \"filter_reason\": \"I do not like it\", "
               "\"matched_patterns\": [\"x\", {\"pattern\": \"y\"}]}'",
               "text");
  EXPECT_EQ(answer.outcome, Outcome::Refused);
  EXPECT_EQ(answer.detail, "I do not like it (x, y)");
}

TEST(Precheck, DoesNotWaitForever) {
  const PrecheckAnswer answer = precheck("sleep 60", "text", std::chrono::milliseconds(200));
  EXPECT_EQ(answer.outcome, Outcome::Failed);
  EXPECT_NE(answer.detail.find("still running after 0.2 s"), std::string::npos) << answer.detail;
}

TEST(Precheck, EndsSoonWhenItIsCancelled) {
  const auto start = std::chrono::steady_clock::now();
  const PrecheckAnswer answer = precheck("sleep 60", "text", kPrecheckTimeout, [] { return true; });
  EXPECT_EQ(answer.outcome, Outcome::Failed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Precheck, AsksForAProgramThatIsThere) {
  for (const char* command : {"no-such-checker --strict", "./no-such-checker", "/etc/passwd"}) {
    EXPECT_THROW(require_precheck_program(command), UsageError) << command;
  }
  for (const char* command : {"", "cat", "/bin/cat -", "if true; then cat; fi", "exit 0",
                              "A=1 no-such-checker", "\"quoted program\"", "(cat)"}) {
    EXPECT_NO_THROW(require_precheck_program(command)) << command;
  }
}

TEST(Precheck, FailsClosed) {
  for (const char* command : {"exit 0", "exit 3", "no-such-program-here", "echo yes", "echo '{}'",
                              "kill -9 $$", "echo '{\"should_filter\": \"no\"}'",
                              "echo '{\"should_filter\": false}'; exit 1", "echo '[1]'"}) {
    const PrecheckAnswer answer = precheck(command, "text");
    EXPECT_EQ(answer.outcome, Outcome::Failed) << command;
    EXPECT_NE(answer.detail.find("--precheck-cmd"), std::string::npos) << answer.detail;
  }
}

TEST(Precheck, KeepsSecretsFromTheCommand) {
  ASSERT_EQ(setenv("WINNOW_TEST_SECRET", "sesame", 1), 0);
  const PrecheckAnswer answer =
      precheck("test -z \"$WINNOW_TEST_SECRET\" && echo '{\"should_filter\": false}'", "text");
  EXPECT_EQ(answer.outcome, Outcome::Passed) << answer.detail;
}

} // namespace
} // namespace winnow::evaluators
