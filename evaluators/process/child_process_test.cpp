#include "evaluators/process/child_process.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

TEST(ChildProcess, GivesOutputAndExitCode) {
  Command command;
  command.argv = {"/bin/sh", "-c", "cat; echo problem >&2; exit 7"};
  const ChildResult result = run_child(command, "hello");
  EXPECT_EQ(result.end, ChildResult::End::Exited);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.out, "hello");
  EXPECT_EQ(result.err, "problem\n");
  EXPECT_EQ(describe(result), "exited with 7");
}

} // namespace
} // namespace winnow::evaluators
