// What a finished run leaves is judged again: on held-out shapes once, and by `winnow reverify`.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

std::int64_t number(const std::string& store, const std::string& query) {
  return SQLite::Database(store, SQLite::OPEN_READONLY).execAndGet(query).getInt64();
}

TEST(Reverify, KeepsWhatCountedBeforeAsEvidence) {
  const TemporaryDirectory directory("reverify");
  const std::string store = directory.path() / "run.db";
  const ProgramResult run =
      run_winnow({"run", "tests/e2e/resume/resume.toml", "--store", store, "--device", "cpu"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("on held-out shapes, judged once:"), std::string::npos) << run.out;
  EXPECT_EQ(number(store, "SELECT count(*) FROM held_out_results"), 2) << "one a task";

  // A verdict that would not come out again: a kernel that is wrong stands at the top.
  const std::int64_t top =
      number(store, "SELECT candidate_id FROM leaderboard WHERE task = 'row_softmax' AND rank = 1");
  SQLite::Database(store, SQLite::OPEN_READWRITE)
      .exec(fmt::format("UPDATE kernel_files SET text = replace(text, 'sum', 'largest') WHERE id = "
                        "(SELECT kernel_file_id FROM candidates WHERE id = {})",
                        top));
  const ProgramResult again = run_winnow({"reverify", "--store", store, "--top", "1"});
  EXPECT_EQ(again.exit_code, 10) << again.out << again.err;
  EXPECT_NE(again.out.find("reduce_sum rank 1"), std::string::npos) << again.out;
  EXPECT_EQ(number(store, "SELECT count(*) FROM evaluations WHERE superseded_by IS NOT NULL"), 2);
  EXPECT_EQ(number(store, "SELECT count(*) FROM evaluation_overview AS old JOIN evaluations AS new "
                          "ON new.id = old.superseded_by WHERE old.verdict = 'correct' AND "
                          "new.verdict <> 17"),
            1);
  EXPECT_EQ(number(store, fmt::format("SELECT count(*) FROM leaderboard WHERE candidate_id = {} "
                                      "AND rank IS NOT NULL",
                                      top)),
            0)
      << "what is not correct any more is not ranked";
}

TEST(Precheck, HasTheFirstWord) {
  const std::string file = "tasks/catalogue/blas/axpy/baseline.cu";
  const auto eval = [&](const std::string& command) {
    return run_winnow(
        {"eval", "axpy", file, "--device", "cpu", "--json", "--precheck-cmd", command});
  };
  const ProgramResult refused =
      eval("grep -q axpy && echo '{\"should_filter\": true, \"filter_reason\": \"says axpy\"}'");
  EXPECT_EQ(refused.exit_code, 10);
  EXPECT_EQ(json_output(refused).value("verdict", ""), "refused");
  EXPECT_EQ(json_output(refused).value("detail", ""), "says axpy");
  const ProgramResult failed = eval("no-such-checker");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(json_output(failed).value("verdict", ""), "infrastructure");
  const ProgramResult passed = eval("cat > /dev/null; echo '{\"should_filter\": false}'");
  EXPECT_EQ(passed.exit_code, 0) << passed.out;
}

} // namespace
} // namespace winnow::test
